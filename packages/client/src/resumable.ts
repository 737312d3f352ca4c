import { createFrameReader } from "./frame-reader.ts";

type Fetch = typeof globalThis.fetch;

/** How long a lost connection is tried again. */
export interface ResumableOptions {
  /**
   * How many times in a row the request is repeated without receiving anything new.
   * @default 8
   */
  retries?: number;
  /**
   * The pause before the first repetition. It doubles with each further one, up to 8 s; up to half of it is left out at
   * random.
   * @default 250
   */
  delayMs?: number;
}

const longestMs = 8000;

/**
 * A `fetch` whose streams of server-sent events survive a lost connection: the request is repeated with `Last-Event-ID`,
 * and the server continues the run. Everything else is passed through.
 *
 * @example
 * ```ts
 * const agent = new HttpAgent({ url: "/agui", fetch: resumable(fetch) });
 * ```
 */
export function resumable(
  fetch: Fetch = globalThis.fetch,
  { retries = 8, delayMs = 250 }: ResumableOptions = {},
): Fetch {
  return async (input, init) => {
    const request = typeof input === "object" && "headers" in input ? input : undefined;
    // What can be read once only cannot be sent again.
    if (isStream(init?.body)) return fetch(input, init);
    const headers = new Headers(init?.headers ?? request?.headers);
    if (needsKey(init?.body)) headers.set("idempotency-key", newKey());
    const stop = new AbortController();
    const given = init?.signal ?? request?.signal;
    const abort = (): void => stop.abort(given?.reason);
    if (given?.aborted) abort();
    given?.addEventListener("abort", abort, { once: true });
    const { signal } = stop;
    let tries = 0;

    async function open(): Promise<Response> {
      for (;;) {
        try {
          const response = await fetch(request ? request.clone() : input, {
            ...init,
            headers,
            signal,
          });
          if (!isOutage(response.status) || tries >= retries) return response;
          response.body?.cancel?.().catch(ignore);
        } catch (error) {
          if (signal.aborted || tries >= retries) throw error;
        }
        await again();
      }
    }

    // Resolves after a pause, or when the request is aborted: the next attempt reports that.
    function again(): Promise<void> {
      if (!headers.has("last-event-id")) headers.set("last-event-id", "0");
      const longest = Math.min(delayMs * 2 ** tries++, longestMs);
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, longest * (1 - Math.random() / 2));
        signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
      });
    }

    const first = await open();
    const type = first.headers.get("content-type") ?? "";
    if (!first.ok || !first.body || !type.includes("event-stream")) return first;
    let reader = first.body.getReader();
    const frames = createFrameReader((id) => {
      tries = 0;
      headers.set("last-event-id", id);
    });
    let feed = frames.connected();

    /** What has come since; undefined at the end. */
    async function next(): Promise<string | undefined> {
      for (;;) {
        const text = frames.take();
        if (text !== "") return text;
        let failure: unknown = new Error("The stream ended before the run did.");
        try {
          const { done, value } = await reader.read();
          if (!done) {
            feed(value);
            continue;
          }
          if (frames.last === undefined) return undefined;
        } catch (error) {
          failure = error;
        }
        if (frames.isOver) return undefined;
        if (frames.isBeyond || signal.aborted || tries >= retries) throw failure;
        await again();
        const response = await open();
        if (response.status !== 200 || !response.body) {
          throw new Error(`The stream cannot be resumed: HTTP ${response.status}.`);
        }
        reader = response.body.getReader();
        feed = frames.connected();
      }
    }

    return toResponse(first, next, () => {
      stop.abort();
      reader.cancel().catch(ignore);
    });
  };
}

function toResponse(
  response: Response,
  next: () => Promise<string | undefined>,
  leave: () => void,
): Response {
  const encoder = new TextEncoder();
  // React Native has readers without streams.
  if (typeof ReadableStream === "undefined") {
    const read = async (): Promise<object> => {
      const text = await next();
      return text === undefined ? { done: true } : { done: false, value: encoder.encode(text) };
    };
    const cancel = async (): Promise<void> => leave();
    const reader = { read, cancel, releaseLock: ignore };
    return Object.defineProperty(response, "body", { value: { getReader: () => reader } });
  }
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const text = await next();
        if (text === undefined) controller.close();
        else controller.enqueue(encoder.encode(text));
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
  // Clients cancel a stream that has failed, and few look at what that returns.
  const getReader = body.getReader.bind(body) as () => ReadableStreamDefaultReader<Uint8Array>;
  body.getReader = ((): ReadableStreamDefaultReader<Uint8Array> => {
    const reader = getReader();
    const cancel = reader.cancel.bind(reader);
    reader.cancel = (reason) => cancel(reason).catch(ignore);
    return reader;
  }) as typeof body.getReader;
  return new Response(body, response);
}

function isStream(body: unknown): boolean {
  return typeof body === "object" && body !== null && "getReader" in body;
}

// A run of AG-UI has its id in the body. Other requests get one, under which the server knows a copy.
function needsKey(body: unknown): boolean {
  if (typeof body !== "string") return false;
  try {
    return typeof (JSON.parse(body) as { runId?: unknown }).runId !== "string";
  } catch {
    return false;
  }
}

function newKey(): string {
  // Pages without TLS have no `randomUUID`.
  const digit = (at: string): string =>
    (at === "y" ? 8 + Math.random() * 4 : Math.random() * 16).toString(16)[0]!;
  return (
    globalThis.crypto?.randomUUID?.() ??
    "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replaceAll(/[xy]/g, digit)
  );
}

function isOutage(status: number): boolean {
  return status >= 502 && status <= 504;
}

function ignore(): void {}
