import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

/** Where a host serves the app. */
export interface Target {
  /** With the mount: `http://127.0.0.1:4000/api`. */
  readonly url: string;
  readonly fetch: typeof fetch;
}

export interface Check {
  readonly name: string;
  /** What it shows, for the page on hosts. */
  readonly shows: string;
  readonly run: (target: Target) => Promise<void>;
  /** Takes more than a minute: only done when it is named. */
  readonly isLong?: boolean;
}

/** The body of a run over AG-UI. */
export function toInput(content: string, ids: Partial<Ids> = {}): Record<string, unknown> {
  const { threadId = randomUUID(), runId = randomUUID() } = ids;
  const messages = [{ id: randomUUID(), role: "user", content }];
  return {
    threadId,
    runId,
    protocolVersion: "1.0",
    messages,
    tools: [],
    context: [],
    state: {},
    forwardedProps: {},
  };
}

export interface Ids {
  readonly threadId: string;
  readonly runId: string;
}

export function createIds(): Ids {
  return { threadId: randomUUID(), runId: randomUUID() };
}

/** A POST with JSON. */
export function post(
  { url, fetch }: Target,
  to: string | { readonly path: string; readonly signal: AbortSignal },
  body: unknown,
): Promise<Response> {
  const { path, ...rest } = typeof to === "string" ? { path: to } : to;
  const headers = { "content-type": "application/json" };
  return fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body), ...rest });
}

/** An event of an AG-UI stream, with its offset. */
export interface Received {
  readonly id: number;
  readonly event: {
    readonly type: string;
    readonly delta?: string;
    readonly code?: string;
    readonly outcome?: { readonly type: string };
  };
}

export interface SseReader {
  readonly events: Received[];
  /** Comments between the events: heartbeats. */
  readonly comments: number;
  /** Resolves when an event or a comment fits, or the stream ends. */
  until(fits: (reader: SseReader) => boolean): Promise<void>;
  readToEnd(): Promise<Received[]>;
  cancel(): Promise<void>;
}

/** Reads server-sent events as they arrive. */
export function readSse(response: Response): SseReader {
  assert.equal(response.status, 200, `status ${response.status}`);
  assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const events: Received[] = [];
  let rest = "";
  let comments = 0;

  function take(frame: string): void {
    if (frame.startsWith(":")) comments++;
    const data = /^data: (.*)$/m.exec(frame)?.[1];
    const id = Number(/^id: (\d+)$/m.exec(frame)?.[1] ?? 0);
    if (data !== undefined) events.push({ id, event: JSON.parse(data) });
  }

  const self: SseReader = {
    events,
    get comments() {
      return comments;
    },
    async until(fits) {
      while (!fits(self)) {
        const { done, value } = await reader.read();
        if (done) return;
        const frames = (rest + value).split("\n\n");
        rest = frames.pop()!;
        frames.forEach(take);
      }
    },
    async readToEnd() {
      await self.until(() => false);
      return events;
    },
    cancel: () => reader.cancel(),
  };
  return self;
}

/** The text of a run. */
export function textOf(events: readonly Received[]): string {
  return events.map(({ event }) => event.delta ?? "").join("");
}

/** Asserts that a stream ended as a run that succeeded. */
export function assertFinished(events: readonly Received[]): void {
  assert.equal(events.at(-1)?.event.type, "RUN_FINISHED", JSON.stringify(events.at(-1)?.event));
}

/** Asks the app over REST, and returns what it answers. */
export async function ask(target: Target, message: string, variant = ""): Promise<string> {
  const response = await post(target, `${variant}/agent/default/chat`, { message });
  const body = await response.text();
  assert.equal(response.status, 200, body);
  return (JSON.parse(body) as { content: string }).content;
}

/** Resolves when the app has noted a value under a key. */
export async function noted(target: Target, key: string, value: string): Promise<void> {
  for (let left = 100; left > 0; left--) {
    if ((await ask(target, `noted ${key}`)) === value) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(
    `"${value}" was not noted under "${key}", but "${await ask(target, `noted ${key}`)}"`,
  );
}
