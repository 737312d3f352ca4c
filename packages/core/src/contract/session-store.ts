import type { Awaitable, Json } from "./agent.ts";
import type { Lease, RunLog, ThreadKey } from "./run-log.ts";
import type { TakenCall } from "./tools.ts";
import type { BaseEvent, Message } from "@ag-ui/core";

export interface Pending {
  readonly id: string;
  readonly kind: "tool" | "interrupt";
  readonly runId: string;
  readonly value: Json;
}

/** Which side keeps the messages of a thread: the client sends all of them, or only what is new. */
export type HistoryOwner = "client" | "server";

/** What a store removed from the beginning of a thread to keep it within its bounds. */
export interface PrunedMessages {
  /** How many messages were removed. */
  readonly count: number;
  /** The id of the last one. */
  readonly lastId: string;
}

/** A run that a thread has accepted, and its request, so that a late copy of the request is recognised. */
export interface PastRun {
  readonly runId: string;
  /** Equal for copies of one request; what it is made of is the handler's business. */
  readonly request: string;
}

/** The record of one thread. */
export interface Session extends ThreadKey {
  readonly agentId: string;
  readonly version: number;
  readonly createdAt: number;
  readonly lastActivity: number;
  readonly messageCount: number;
  readonly messages: readonly Message[];
  readonly state: unknown;
  readonly metadata: Readonly<Json>;
  /** What the server asked for and has not been answered. */
  readonly pending: readonly Pending[];
  /** The last run folded into `messages` and `state`. */
  readonly lastRunId?: string | undefined;
  /** The run that was accepted last and has not ended; after a crash it tells what to recover. */
  readonly active?: ActiveFold | undefined;
  /** When each message was begun and each tool call was complete, in ms, by their ids. */
  readonly times?: Readonly<Record<string, number>> | undefined;
  /** Set by the first run of the thread, and never changed afterwards. */
  readonly historyOwner?: HistoryOwner | undefined;
  /** Absent: nothing was pruned. A history that a client made shorter is not a pruned one. */
  readonly pruned?: PrunedMessages | undefined;
  /** The last 100 runs, oldest first. */
  readonly pastRuns?: readonly PastRun[] | undefined;
  /** Ids of the tool calls in `messages` that only a client vouches for. Absent: none. */
  readonly claimed?: readonly string[] | undefined;
}

/** How far a run that has not ended is folded into the `messages` and `state` of its session. */
export interface ActiveFold {
  readonly runId: string;
  /** Entries after this offset are still to be folded. */
  readonly offset: number;
  /** The START events of what was open at that offset. */
  readonly open: readonly BaseEvent[];
  /** The calls that a person has answered for this run. What has no result when the run is lost gets an error. */
  readonly taken?: readonly TakenCall[] | undefined;
}

export interface SessionChange {
  /** By id; never rewrites the whole history. */
  append?: readonly Message[];
  /** Replaces. */
  messages?: readonly Message[];
  state?: unknown;
  /** Merged by key. */
  metadata?: Json;
  pending?: readonly Pending[];
  lastRunId?: string;
  /** `null` clears it. */
  active?: ActiveFold | null;
  /** Of what is new in `messages` or `append`; what is not named here is of now. */
  times?: Readonly<Record<string, number>>;
  /** Messages kept at most, if the store itself keeps no fewer. */
  maxMessages?: number | undefined;
  /** Ignored once the thread has an owner. */
  historyOwner?: HistoryOwner;
  /** Added to `pastRuns`; past 100 the oldest is removed. */
  run?: PastRun;
  /** Replaces. */
  claimed?: readonly string[];
}

/** What a blob is found by; only with the principal it was kept for. */
export interface BlobKey {
  readonly principal: string;
  readonly id: string;
}

/** Bytes that a store keeps. */
export interface StoredBlob {
  readonly size: number;
  readonly metadata: Json;
  /** From the beginning, in pieces. Throws `file-not-found` when they are gone before the last one. */
  read(): AsyncIterable<Uint8Array>;
}

/** Bytes beside the sessions, for every process of the store. They pass through in pieces. */
export interface BlobStore {
  /**
   * Keeps what arrives for so long. Nobody sees it before it is whole, and nothing stays of what broke
   * off. A key is written once: a second time is refused with `run-exists`.
   */
  put(
    key: BlobKey,
    bytes: AsyncIterable<Uint8Array>,
    about: { readonly ttlMs: number; readonly metadata: Json },
  ): Promise<void>;
  get(key: BlobKey): Promise<StoredBlob | undefined>;
  delete(key: BlobKey): Promise<boolean>;
  /** Bytes of all that is kept, of all principals, to within a minute of its expiry. */
  size(): Promise<number>;
}

export interface UpdateOptions {
  /** The change is refused with `thread-busy` when the session is at another version. */
  readonly ifVersion?: number;
  /**
   * The run that writes. The change is refused with `run-lost`, in the same step that would have stored it,
   * once this lease has run out, was taken over, or its run was closed.
   */
  readonly lease?: Lease;
}

export interface SessionStore {
  get(key: ThreadKey): Awaitable<Session | undefined>;
  create(key: ThreadKey, init: { agentId: string; metadata?: Json }): Awaitable<Session>;
  update(key: ThreadKey, change: SessionChange, options?: UpdateOptions): Awaitable<Session>;
  delete(key: ThreadKey): Awaitable<boolean>;
  touch(key: ThreadKey): Awaitable<void>;
  list(query: {
    principal: string;
    agentId?: string;
    limit: number;
    cursor?: string;
  }): Awaitable<{ items: Session[]; next?: string | undefined }>;
  cleanupExpired(): Awaitable<number>;
  /** How many sessions there are, of all principals; cheap, for health checks. */
  count?(): Awaitable<number>;
  close(): Awaitable<void>;
  readonly runs: RunLog;
  /** Shared token bucket. Resolves to 0 or the milliseconds to wait. */
  take(bucket: string, cost: number, rate: { tokens: number; perMs: number }): Awaitable<number>;
  /** For uploads. Absent: this store keeps none. */
  readonly blobs?: BlobStore;
}
