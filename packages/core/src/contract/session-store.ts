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

/** A run that a thread has accepted, and its request, so that a late copy of the request is recognized. */
export interface PastRun {
  readonly runId: string;
  /** Equal for copies of one request; its content is opaque to the store. */
  readonly request: string;
}

/** What a thread holds, counted at each change. */
export interface SessionSize {
  /** Messages, without thoughts and activities. */
  readonly messages: number;
  /** Characters of text in those messages. */
  readonly characters: number;
  /** Roughly what all messages take in memory. */
  readonly messageBytes: number;
  /** Roughly what the state takes in memory. */
  readonly stateBytes: number;
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
  /** Questions from the server that have not been answered. */
  readonly pending: readonly Pending[];
  /** The last run folded into `messages` and `state`. */
  readonly lastRunId?: string | undefined;
  /**
   * The run that was accepted last and has not ended; after a crash, this is the run to recover.
   */
  readonly active?: ActiveFold | undefined;
  /** When each message started and each tool call was complete, in ms, by id. */
  readonly times?: Readonly<Record<string, number>> | undefined;
  /** Set by the first run of the thread; never changed afterwards. */
  readonly historyOwner?: HistoryOwner | undefined;
  /** Absent when nothing was pruned. A history shortened by a client does not count as pruned. */
  readonly pruned?: PrunedMessages | undefined;
  /** The last 100 runs, oldest first. */
  readonly pastRuns?: readonly PastRun[] | undefined;
  /**
   * Ids of the tool calls in `messages` that only a client has reported. Absent when there are
   * none.
   */
  readonly claimed?: readonly string[] | undefined;
  /** Absent when the store does not count. */
  readonly size?: SessionSize | undefined;
}

/** A thread in a list, without anything that may be large. */
export interface ListedSession extends Pick<
  Session,
  | "principal"
  | "threadId"
  | "agentId"
  | "version"
  | "createdAt"
  | "lastActivity"
  | "messageCount"
  | "metadata"
  | "lastRunId"
  | "size"
> {
  /** The run in `Session.active`: its end is not in the thread yet. */
  readonly activeRunId?: string | undefined;
}

/** How far a run that has not ended is folded into the `messages` and `state` of its session. */
export interface ActiveFold {
  readonly runId: string;
  /** Entries after this offset are still to be folded. */
  readonly offset: number;
  /** The START events of the parts open at that offset. */
  readonly open: readonly BaseEvent[];
  /**
   * The calls that a user has answered for this run. A call without a result when the run is lost gets an
   * error.
   */
  readonly taken?: readonly TakenCall[] | undefined;
}

export interface SessionChange {
  /** Upserts by id; never rewrites the whole history. */
  append?: readonly Message[];
  /** Replaces all messages. */
  messages?: readonly Message[];
  state?: unknown;
  /** Merged by key. */
  metadata?: Json;
  pending?: readonly Pending[];
  lastRunId?: string;
  /** `null` clears it. */
  active?: ActiveFold | null;
  /** For new messages in `messages` or `append`; messages without an entry get the current time. */
  times?: Readonly<Record<string, number>>;
  /** The maximum number of messages to store, unless the store's own limit is lower. */
  maxMessages?: number | undefined;
  /**
   * The maximum bytes of messages and state as JSON. A change that makes a thread larger than this is refused with
   * `session-too-large`, and nothing of it is stored. A change that adds nothing is never refused.
   */
  maxBytes?: number | undefined;
  /** Ignored once the thread has an owner. */
  historyOwner?: HistoryOwner;
  /** Added to `pastRuns`; past 100 the oldest is removed. */
  run?: PastRun;
  /** Replaces the list. */
  claimed?: readonly string[];
}

/** The key of a blob; a blob can only be read with the principal it was stored for. */
export interface BlobKey {
  readonly principal: string;
  readonly id: string;
}

/** Bytes in a store. */
export interface StoredBlob {
  readonly size: number;
  readonly metadata: Json;
  /**
   * From the beginning, in pieces. Throws `file-not-found` when they are deleted before the last one.
   */
  read(): AsyncIterable<Uint8Array>;
}

/**
 * Stores bytes next to the sessions, for every process of the store. They are streamed in pieces.
 */
export interface BlobStore {
  /**
   * Stores the bytes for the given time. They are invisible until complete, and an aborted write
   * leaves nothing behind. A key is written once: a second write is refused with `run-exists`.
   */
  put(
    key: BlobKey,
    bytes: AsyncIterable<Uint8Array>,
    about: { readonly ttlMs: number; readonly metadata: Json },
  ): Promise<void>;
  get(key: BlobKey): Promise<StoredBlob | undefined>;
  delete(key: BlobKey): Promise<boolean>;
  /** Total bytes stored for all principals, accurate to within a minute of expiry. */
  size(): Promise<number>;
}

/** What a new thread begins with. */
export interface SessionInit {
  readonly agentId: string;
  readonly metadata?: Json;
  /**
   * The maximum number of sessions, of all principals, unless the store's own limit is lower. One too many is
   * refused with `capacity-exceeded`.
   */
  readonly maxSessions?: number | undefined;
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
  create(key: ThreadKey, init: SessionInit): Awaitable<Session>;
  update(key: ThreadKey, change: SessionChange, options?: UpdateOptions): Awaitable<Session>;
  /** Removes a thread with its runs, also one that has only runs. Resolves to false when there was no session. */
  delete(key: ThreadKey): Awaitable<boolean>;
  touch(key: ThreadKey): Awaitable<void>;
  /** The last used first. Reads neither messages nor state. */
  list(query: {
    principal: string;
    agentId?: string;
    limit: number;
    cursor?: string;
  }): Awaitable<{ items: ListedSession[]; next?: string | undefined }>;
  cleanupExpired(): Awaitable<number>;
  /** How many sessions there are, of all principals; cheap, for health checks. */
  count?(): Awaitable<number>;
  close(): Awaitable<void>;
  readonly runs: RunLog;
  /** Shared token bucket. Resolves to 0 or the milliseconds to wait. */
  take(bucket: string, cost: number, rate: { tokens: number; perMs: number }): Awaitable<number>;
  /** For uploads. Absent when the store does not support them. */
  readonly blobs?: BlobStore;
}
