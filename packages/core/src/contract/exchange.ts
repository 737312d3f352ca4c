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
   * Deltas of one part that were said in one turn, at once: what `encode` makes of each, from the first offset
   * of `entry` on. Absent: they are encoded one by one. Whoever gives another encoder's copy an `encode` of its
   * own has to replace this as well, or to take it out.
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

/** One request and its answer, as a binding hands it to the handler. */
export interface Exchange {
  /** Built on first use. */
  readonly request: AgentRequest;
  readonly method: string;
  /** After the mount prefix, still encoded, without the query. */
  readonly path: string;
  /** False: the address has no query, told without building `request`. Absent: nobody has looked. */
  readonly hasQuery?: boolean;
  /** A request header by its lower-case name, without building `request`. */
  header(name: string): string | undefined;
  /** Nobody else would answer: what has no route is refused here, through the middleware. */
  readonly isLast?: boolean;
  /** Set when a body parser was here first. */
  readonly parsedBody?: unknown;
  body(): AsyncIterable<Uint8Array>;
  /** The body in one piece; nothing when it is larger. Absent: it is read from `body()`. */
  whole?(maxBytes: number): Promise<Uint8Array | undefined>;
  /** Aborted when the client leaves before it has its whole answer. Absent: nobody can tell. */
  readonly signal?: AbortSignal;
  /** Says what `signal` says, at most once, to who needs no signal. Absent: `signal` says it. */
  onLeave?(listener: () => void): void;
  /** Flushes the head at once. Called exactly once, or `respond` is. */
  reply(status: number, headers: Readonly<Record<string, string>>): Sink;
  /** The whole answer in one piece; its length is told by who sends it. Absent: it goes through `reply`. */
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
