import type { Json } from "./agent.ts";
import type { AgentRequest } from "./context.ts";
import type { LogEntry } from "./run-log.ts";

export type Chunk = string | Uint8Array;

/** Turns log entries into bytes. Pure: no clock, no random id. */
export interface Encoder {
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Set only by an encoder without state that produces at most one frame per entry. Followers with
   * equal keys share bytes, and the stream may start after any offset.
   */
  readonly key?: string;
  open?(): Chunk;
  /** `''` when this protocol has no equivalent of the event. */
  encode(entry: LogEntry): Chunk;
  /**
   * Encodes several deltas of one part in one call, for speed: an agent often sends many in one turn of the
   * event loop. Returns exactly what `encode` returns for each of them, joined; the first has the offset
   * `entry.from`. May be left out: `encode` is then called for each delta. If you copy an encoder and replace
   * its `encode`, replace or remove this method too.
   */
  encodeDeltas?(entry: LogEntry, deltas: readonly string[]): Chunk;
  /**
   * Absent when the protocol has no keep-alive. `begun` is false until the first entry was sent.
   */
  keepAlive?(begun: boolean): Chunk;
  /** After the terminal entry. */
  close?(): Chunk;
}

/** Writes bytes to one client. Independent of events. */
export interface Sink {
  /** Returns false when the caller should stop until `onDrain`. Never throws. */
  write(chunk: Chunk): boolean;
  /** Bytes accepted but not yet read by the peer. */
  readonly pending: number;
  onDrain: (() => void) | undefined;
  /** Called once when the peer disconnects; not called after `end`. */
  onClose: (() => void) | undefined;
  end(): void;
  destroy(): void;
}

/** A response that a client has not taken whole yet. */
export type UnsentResponse = Pick<Sink, "pending" | "destroy">;

/** One request and its response, as a binding passes it to the handler. */
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
  /**
   * True when no other handler follows: a request without a route is refused here, through the
   * middleware.
   */
  readonly isLast?: boolean;
  /** Set when a body parser has already read the body. */
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
   * Sends the whole response in one piece; the binding sets its length. If absent, `reply` is used. Returns what the
   * client has not taken yet, if that is known, so that a client that never takes it is disconnected.
   */
  respond?(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: Chunk,
  ): UnsentResponse | undefined | void;
  /** Keeps a run alive after the response (Workers, Vercel). */
  waitUntil?(work: Promise<unknown>): void;
}

/** The response of a route. A `stream` comes only from `ActiveRun.stream`. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string or bytes as they are; anything else as JSON. */
  readonly body?: Chunk | Json | readonly unknown[];
  readonly stream?: ReplyStream;
}

/** Connects a run to a client after the head was sent. */
export interface ReplyStream {
  attach(sink: Sink): void;
  /** Called when the response will not be sent after all. */
  discard(): void;
  /** Settles when the run behind it has ended. */
  readonly done?: Promise<unknown>;
}

/** The part of a handler that a binding uses. */
export interface ExchangeHandler {
  /** Resolves to false when no route matches and nothing was written. */
  handle(exchange: Exchange): Promise<boolean>;
  readonly fetch: (request: Request, ...platform: unknown[]) => Promise<Response>;
  close(options?: { timeoutMs?: number }): Promise<void>;
  start(): Promise<void>;
}
