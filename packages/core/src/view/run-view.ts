import { EventType, PROTOCOL_VERSION } from "@ag-ui/core";
import type { BaseEvent, Message } from "@ag-ui/core";
import { noOffset } from "../delta/merged-entry.ts";
import type { SizedEntry } from "../delta/merged-entry.ts";
import { LiveDocument } from "../json/live-document.ts";
import { foldOver } from "./reducer.ts";
import type { Reducer } from "./reducer.ts";
import { sizeOf } from "../json/size.ts";
import { Times } from "./message-times.ts";
import type { LogEntry, RunKey, RunLog, RunRecord } from "../contract/run-log.ts";
import type { Session } from "../contract/session-store.ts";

/** The run as its clients have received it so far. */
export interface RunView {
  /** Takes the time of the event, for `times`. */
  apply(event: BaseEvent, at?: number): void;
  readonly messages: readonly Message[];
  readonly state: unknown;
  /** The START events of what is open, owners first. */
  open(): readonly BaseEvent[];
  /** Whether all of the run is in the messages; past its bound some is not. */
  readonly isWhole: boolean;
  /** Whether an earlier list of these messages may have been in another order. */
  readonly isReordered: boolean;
  /** When each message of the run was begun and each tool call was complete, by their ids. */
  readonly times: Readonly<Record<string, number>>;
}

export interface RunViewStart {
  /** A list that is not changed afterwards. */
  readonly messages: readonly Message[];
  readonly state: unknown;
  /** What was open where this view begins. */
  readonly open?: readonly BaseEvent[];
  /** The messages hold a part of the run already; how it came about is not known. */
  readonly isReordered?: boolean;
  readonly maxBytes?: number;
}

// Looked up once: this is compared for every token.
const textContent = EventType.TEXT_MESSAGE_CONTENT;

/** Folds delivered events into messages, state and what is open. */
export function createRunView(start: RunViewStart): RunView {
  return new View(start);
}

class View implements RunView {
  #state: unknown;
  /** Made by the first change of the state. */
  #document: LiveDocument | undefined = undefined;
  readonly #reducer: Reducer;
  readonly #times = new Times();
  readonly #maxBytes: number;
  readonly #wasReordered: boolean;

  constructor({ messages, maxBytes = Infinity, state = {}, open, isReordered }: RunViewStart) {
    this.#reducer = foldOver(messages, open ? { maxBytes, open } : { maxBytes });
    this.#state = state;
    this.#maxBytes = maxBytes;
    this.#wasReordered = isReordered ?? false;
  }

  apply(event: BaseEvent, at?: number): void {
    const { type } = event;
    // A delta begins nothing.
    if (type === textContent) return this.#reducer.apply(event);
    if (type === EventType.STATE_SNAPSHOT) return this.#live.write(event.snapshot);
    // The guard let it through, so it applies.
    if (type === EventType.STATE_DELTA) return this.#live.patch(event.delta as never);
    // Past its bound the reducer begins nothing new.
    if (at !== undefined && this.#reducer.bytes <= 2 * this.#maxBytes) this.#times.note(event, at);
    this.#reducer.apply(event);
  }

  get isWhole(): boolean {
    return this.#reducer.bytes <= this.#maxBytes;
  }

  get state(): unknown {
    return this.#document ? this.#document.read() : this.#state;
  }

  get #live(): LiveDocument {
    if (!this.#document) {
      this.#document = new LiveDocument(this.#state);
      this.#state = undefined;
    }
    return this.#document;
  }

  get messages(): readonly Message[] {
    return this.#reducer.messages;
  }

  get isReordered(): boolean {
    return this.#wasReordered || this.#reducer.isReordered;
  }

  get times(): RunView["times"] {
    return this.#times.read();
  }

  open(): readonly BaseEvent[] {
    return this.#reducer.open().map(({ event }) => event);
  }
}

/**
 * What a client receives when it joins in the middle: a valid beginning, snapshots of past events,
 * and STARTs for open parts. Re-streaming the past would append it to what the client already has.
 * Only the last entry has an offset: a client that resumes from an incomplete prelude starts over.
 */
export function toPrelude(
  { threadId, runId }: { threadId: string; runId: string },
  view: Pick<RunView, "messages" | "state" | "open" | "isReordered">,
  place: { offset: number; at: number },
): SizedEntry[] {
  const begin = {
    type: EventType.RUN_STARTED,
    threadId,
    runId,
    protocolVersion: PROTOCOL_VERSION,
  };
  const open = view.open().map(withoutMetadata);
  const past: BaseEvent[] = [
    { type: EventType.MESSAGES_SNAPSHOT, messages: view.messages },
    { type: EventType.STATE_SNAPSHOT, snapshot: view.state ?? null },
    ...view.messages.flatMap(toActivity),
  ];
  // What is open may have been taken from the messages: then its START must not put it back.
  const events: BaseEvent[] = view.isReordered
    ? [begin, ...open, toClearing(view.messages), ...past]
    : [begin, ...past, ...open];
  const { offset, at } = place;
  return events.map((event, index) => {
    const to = index === events.length - 1 ? offset : noOffset;
    return { from: to, to, at, event, size: sizeOf(event) };
  });
}

// A client replaces the messages it has in place and appends the others. A client that may have them
// in another order has to drop them first. It drops reasoning and activities only for others of their
// kind; those are removed by the next snapshot, which has the real ones.
function toClearing(messages: readonly Message[]): BaseEvent {
  const has = (role: Message["role"]): boolean => messages.some((message) => message.role === role);
  const instead: Message[] = [];
  if (has("reasoning")) instead.push({ id: "join-reasoning", role: "reasoning", content: "" });
  if (has("activity")) {
    instead.push({ id: "join-activity", role: "activity", activityType: "join", content: {} });
  }
  return { type: EventType.MESSAGES_SNAPSHOT, messages: instead };
}

// The metadata is in the snapshot, which also includes later changes.
function withoutMetadata(event: BaseEvent): BaseEvent {
  const { metadata: _metadata, ...rest } = event;
  return rest;
}

// A client that keeps its activities over a snapshot still receives their latest content. An
// activity of a subagent would lose its owner, which may have ended.
function toActivity(message: Message): BaseEvent[] {
  if (message.role !== "activity" || message.subagentRunId !== undefined) return [];
  const { id, activityType, content } = message;
  return [
    { type: EventType.ACTIVITY_SNAPSHOT, messageId: id, activityType, content, replace: true },
  ];
}

/** A run of another process, folded as far as its log goes. */
export interface FoldedRun {
  readonly view: RunView;
  readonly offset: number;
  /** Its last event, when it has ended. */
  readonly terminal?: LogEntry;
}

const page = 512;

/** The offset after which a run's log has to be read to fold it over its session. */
export function foldStart(record: RunRecord, session: Session | undefined): number {
  const active = session?.active?.runId === record.runId ? session.active : undefined;
  const isHeld = session !== undefined && active === undefined;
  // A finished run is in its session, and so may be newer ones: only its end is read.
  return isHeld && record.status !== "running" ? record.last - 1 : (active?.offset ?? 0);
}

/** Reads a run's log over its session. The session was read first: what it already holds is not folded again. */
export async function foldRun(
  runs: RunLog,
  record: RunRecord,
  session: Session | undefined,
): Promise<FoldedRun> {
  const key: RunKey = record;
  const active = session?.active?.runId === record.runId ? session.active : undefined;
  const isHeld = session !== undefined && active === undefined;
  const view = createRunView({
    messages: session?.messages ?? [],
    state: session?.state,
    open: active?.open ?? [],
    isReordered: isHeld || (active?.offset ?? 0) > 0,
  });
  let offset = foldStart(record, session);
  let terminal: LogEntry | undefined;
  for (;;) {
    const entries = await runs.read(key, offset, page);
    for (const entry of entries) {
      if (isTerminal(entry.event)) terminal = entry;
      else view.apply(entry.event, entry.at);
      offset = entry.to;
    }
    if (entries.length < page) break;
  }
  return { view, offset, ...(terminal ? { terminal } : {}) };
}

export function isTerminal({ type }: BaseEvent): boolean {
  return type === EventType.RUN_FINISHED || type === EventType.RUN_ERROR;
}
