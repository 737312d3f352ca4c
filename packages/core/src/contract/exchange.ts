import type { Json } from "./agent.ts";
import type { AgentRequest } from "./context.ts";
import type { LogEntry } from "./run-log.ts";

export type Chunk = string | Uint8Array;

/** Entries of the log to bytes. Pure: no clock, no random id. */
export interface Encoder {
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Set only by an encoder without memory that makes at most one frame per entry. Followers with equal
   * keys share bytes, and the stream may start after any offset.
   */
  readonly key?: string;
  open?(): Chunk;
  /** `''` when this protocol has no word for it. */
  encode(entry: LogEntry): Chunk;
  /**
   * Encodes several deltas of one part in one call, for speed: an agent often sends many in one turn of the
   * event loop. Returns exactly what `encode` returns for each of them, joined; the first has the offset
   * `entry.from`. May be left out: `encode` is then called for each delta. If you copy an encoder and replace
   * its `encode`, replace or remove this method too.
   */
  encodeDeltas?(entry: LogEntry, deltas: readonly string[]): Chunk;
  /** Absent: this protocol cannot. `begun` is false until the first entry was sent. */
  keepAlive?(begun: boolean): Chunk;
  /** After the terminal entry. */
  close?(): Chunk;
}

/** Bytes to one client. Knows nothing of events. */
export interface Sink {
  /** False: stop until `onDrain`. Never throws. */
  write(chunk: Chunk): boolean;
  /** Bytes accepted and not yet taken by the peer. */
  readonly pending: number;
  onDrain: (() => void) | undefined;
  /** The peer left; once; not called after `end`. */
  onClose: (() => void) | undefined;
  end(): void;
  destroy(): void;
}

/**
 * One request and its response, as a binding passes them to the handler.
 *
 * A binding has to write `request`, `method`, `path`, `query`, `header`, `body`, `onLeave` and `reply`. The
 * handler itself reads a request through these members; it uses `request` only for code of the host
 * (`authenticate`, middleware, agents), so a binding may build that object when it is first read.
 *
 * `readAll` and `respond` do in one call what `body` and `reply` do in several. They exist for speed only and
 * may be left out.
 */
export interface Exchange {
  /** What `authenticate`, middleware and agents see of the request. */
  readonly request: AgentRequest;
  readonly method: string;
  /** After the mount prefix, still encoded, without the query. */
  readonly path: string;
  /** The query as the client sent it, like `URL.search`: `"?a=1"`, or `""` when there is none. */
  readonly query: string;
  /** The value of a request header, by its lower-case name. */
  header(name: string): string | undefined;
  /** Nobody else would answer: what has no route is refused here, through the middleware. */
  readonly isLast?: boolean;
  /** Set when a body parser was here first. */
  readonly parsedBody?: unknown;
  /** The body as it arrives. A reader that stops early leaves the rest unread. */
  body(): AsyncIterable<Uint8Array>;
  /**
   * Reads the whole body in one call, for a server that can do so faster than piece by piece. Resolves to
   * undefined when the body is larger than `maxBytes`. May be left out: `body()` is then read to its end.
   */
  readAll?(maxBytes: number): Promise<Uint8Array | undefined>;
  /**
   * Calls the listener once when the client leaves before it has received the whole response, and at once
   * when it has left already. Never calls it after a response that was received whole. May be called several
   * times, with a listener each. A binding that cannot know does nothing here.
   */
  onLeave(listener: () => void): void;
  /** Flushes the head at once. Called exactly once, unless `respond` is called instead. */
  reply(status: number, headers: Readonly<Record<string, string>>): Sink;
  /**
   * Sends a whole response in one call, for a server that can do so faster than through a sink. Adds the
   * `content-length`. May be left out: the response is then sent through `reply`.
   */
  respond?(status: number, headers: Readonly<Record<string, string>>, body: Chunk): void;
  /** Keeps a run alive after the response (Workers, Vercel). */
  waitUntil?(work: Promise<unknown>): void;
}

/** What a route answers. A `stream` comes from `ActiveRun.stream` only. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string or bytes as they are; anything else as JSON. */
  readonly body?: Chunk | Json | readonly unknown[];
  readonly stream?: ReplyStream;
}

/** Connects a run to a client once the head is out. */
export interface ReplyStream {
  attach(sink: Sink): void;
  /** The answer will not be sent after all. */
  discard(): void;
  /** Settles when the run behind it has ended. */
  readonly done?: Promise<unknown>;
}

/** What a binding needs to know of a handler. */
export interface ExchangeHandler {
  /** False: no route here and nothing written. */
  handle(exchange: Exchange): Promise<boolean>;
  readonly fetch: (request: Request, ...platform: unknown[]) => Promise<Response>;
  close(options?: { timeoutMs?: number }): Promise<void>;
  start(): Promise<void>;
}
