import { AgentError } from "../contract/errors.ts";
import { createFetchSink, createVoidSink } from "./fetch-sink.ts";
import type { AnswerSink } from "./fetch-sink.ts";
import { toProblem } from "./problem.ts";
import { pathOf, queryOf } from "./url-parts.ts";
import type { AgentRequest } from "../contract/context.ts";
import type { Exchange, ExchangeHandler } from "../contract/exchange.ts";

export interface FetchExchangeOptions {
  /** The path after the mount. By default the whole path of the request. */
  path?: string;
  /** What `request.native` shows. By default the `Request`. */
  native?: unknown;
  ip?: string | undefined;
  /** Where the body comes from when something else has read it already. By default the request. */
  body?: () => AsyncIterable<Uint8Array>;
  waitUntil?: ((work: Promise<unknown>) => void) | undefined;
  /** Whether no other handler follows. */
  isLast?: boolean;
}

export interface FetchExchange {
  readonly exchange: Exchange;
  /** Resolves when the handler replies; stays open when it has no route. */
  readonly response: Promise<Response>;
  /** Breaks the response off, if there is one. */
  readonly destroy: () => void;
}

/** Makes the exchange of a web-standard `Request`. */
export function createFetchExchange(
  request: Request,
  options: FetchExchangeOptions = {},
): FetchExchange {
  const { native = request, ip, waitUntil, isLast = false } = options;
  let built: AgentRequest | undefined;
  let sink: AnswerSink | undefined;
  let answer: (response: Response) => void;
  const response = new Promise<Response>((resolve) => {
    answer = resolve;
  });

  const exchange: Exchange = {
    get request() {
      const { method, headers, url } = request;
      return (built ??= { method, url: new URL(url), headers, ip, native });
    },
    method: request.method,
    path: options.path ?? pathOf(request.url),
    get query() {
      return queryOf(request.url);
    },
    isLast,
    header: (name) => request.headers.get(name) ?? undefined,
    body: options.body ?? (() => readBody(request)),
    onLeave(listener) {
      const { signal } = request;
      // A platform may abort it after the last byte, too.
      const left = (): void => {
        if (!sink?.isTaken) listener();
      };
      if (signal.aborted) left();
      else signal.addEventListener("abort", left, { once: true });
    },
    reply(status, headers) {
      if (sink) throw new Error("`reply` was called twice; an exchange has one response.");
      if (request.method === "HEAD" || isBodyless(status)) {
        answer(new Response(null, { status, headers }));
        return (sink = createVoidSink());
      }
      // Refused headers throw here, before anything else exists.
      const safe = new Headers(headers);
      const stream = createFetchSink(request.signal);
      answer(new Response(stream.body, { status, headers: safe }));
      return (sink = stream);
    },
    ...(waitUntil && { waitUntil }),
  };
  return { exchange, response, destroy: () => sink?.destroy() };
}

/**
 * Answers a `Request`, or resolves to nothing when no route is ours. Rejects when the handler failed
 * before it replied.
 */
export function answerFetch(
  handle: ExchangeHandler["handle"],
  { exchange, response, destroy }: FetchExchange,
): Promise<Response | undefined> {
  return new Promise((resolve, reject) => {
    void response.then(resolve);
    // A stream outlives the promise of its response, so a late failure can only break it off.
    const failed = (error: unknown): void => {
      destroy();
      reject(error);
    };
    // In a promise, so that a handler that throws at once fails the same way.
    const handled = new Promise<boolean>((done) => {
      done(handle(exchange));
    });
    handled.then((isOurs) => {
      if (!isOurs) resolve(undefined);
    }, failed);
  });
}

export interface ToFetchOptions {
  /** Sees what the handler threw; the client sees a 500 without details. */
  onError?: (error: unknown) => void;
  /** What the `type` of a problem starts with. By default `https://holodeck.dev/errors/`. */
  typeBase?: string | undefined;
}

/**
 * Makes a web-standard `fetch` of a handler's `handle`: a 404 where it has no route, and `waitUntil`
 * found among the platform's further arguments.
 *
 * @example
 * ```ts
 * export default { fetch: toFetch(handler.handle) };
 * ```
 */
export function toFetch(
  handle: ExchangeHandler["handle"],
  options: ToFetchOptions = {},
): ExchangeHandler["fetch"] {
  return async (request, ...platform) => {
    const waitUntil = findWaitUntil(platform);
    const made = createFetchExchange(request, { waitUntil, isLast: true });
    try {
      return (await answerFetch(handle, made)) ?? refuse(request, notFound(request), options);
    } catch (error) {
      options.onError?.(error);
      return refuse(request, error, options);
    }
  };
}

/** Finds a platform's `waitUntil` among the arguments it passes with the request. */
export function findWaitUntil(
  platform: readonly unknown[],
): ((work: Promise<unknown>) => void) | undefined {
  for (const candidate of platform) {
    const context = candidate as { waitUntil?: (work: Promise<unknown>) => void } | undefined;
    // Called on its owner: Workers refuse it detached.
    if (typeof context?.waitUntil === "function") return (work) => context.waitUntil?.(work);
  }
  return undefined;
}

function notFound({ method, url }: Request): AgentError {
  return new AgentError("not-found", `No route matches ${method} ${pathOf(url)}.`);
}

function refuse({ method, url }: Request, error: unknown, { typeBase }: ToFetchOptions): Response {
  const { status, headers, body } = toProblem(error, { instance: pathOf(url), typeBase });
  return new Response(method === "HEAD" ? null : body, { status, headers });
}

function isBodyless(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

const smallBody = 64 * 1024;

async function* readBody(request: Request): AsyncGenerator<Uint8Array, void, undefined> {
  if (request.bodyUsed) {
    throw new Error("The body was already read. Pass `request.clone()` to the handler.");
  }
  // In one piece where it is known to be small: a platform that reads it itself needs no stream for it.
  if (Number(request.headers.get("content-length") ?? Infinity) <= smallBody) {
    const bytes = new Uint8Array(await request.arrayBuffer());
    if (bytes.byteLength > 0) yield bytes;
    return;
  }
  const reader = request.body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Not cancelled: a server may close the socket for that, before an early answer has left.
    reader.releaseLock();
  }
}
