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
   * Encodes deltas of one part from the same turn at once: what `encode` returns for each, starting at the
   * first offset of `entry`. If absent, they are encoded one by one. If you override `encode` on a copied
   * encoder, override or delete this too.
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

/** One request and its response, as a binding passes it to the handler. */
export interface Exchange {
  /** Built on first use. */
  readonly request: AgentRequest;
  readonly method: string;
  /** After the mount prefix, still encoded, without the query. */
  readonly path: string;
  /**
   * False when the URL has no query, known without building `request`. Absent when the binding has
   * not checked.
   */
  readonly hasQuery?: boolean;
  /** A request header by its lower-case name, without building `request`. */
  header(name: string): string | undefined;
  /**
   * True when no other handler follows: a request without a route is refused here, through the
   * middleware.
   */
  readonly isLast?: boolean;
  /** Set when a body parser has already read the body. */
  readonly parsedBody?: unknown;
  body(): AsyncIterable<Uint8Array>;
  /**
   * The body in one piece; undefined when it is larger. If absent, the body is read from `body()`.
   */
  whole?(maxBytes: number): Promise<Uint8Array | undefined>;
  /**
   * Aborted when the client disconnects before the response is complete. Absent when the binding
   * cannot detect it.
   */
  readonly signal?: AbortSignal;
  /**
   * Calls the listener at most once when the client disconnects, without creating an AbortSignal.
   * If absent, use `signal`.
   */
  onLeave?(listener: () => void): void;
  /** Flushes the head immediately. Either this or `respond` is called, exactly once. */
  reply(status: number, headers: Readonly<Record<string, string>>): Sink;
  /** Sends the whole response in one piece; the binding sets its length. If absent, `reply` is used. */
  respond?(status: number, headers: Readonly<Record<string, string>>, body: Chunk): void;
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
