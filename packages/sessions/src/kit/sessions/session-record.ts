import { AgentError } from "@holodeck/agui-core";
import type {
  Json,
  Message,
  PastRun,
  Session,
  SessionChange,
  SessionInit,
  ThreadKey,
} from "@holodeck/agui-core";
import { isPrunable, pruneMessages } from "./prune-messages.ts";
import type { PruneOptions } from "./prune-messages.ts";
import { prunedAfter } from "./pruned-messages.ts";
import { assertFits, emptySize, sizeAfter } from "./session-size.ts";

// Runs of a thread whose ids and requests are kept.
const maxPastRuns = 100;

// Shared: a record is replaced and never changed.
const nothing: Readonly<Json> = Object.freeze({});
const nothingPending: Session["pending"] = Object.freeze([]);

/** A new thread's record. */
export function newSession(key: ThreadKey, init: SessionInit, now: number): Session {
  return {
    principal: key.principal,
    threadId: key.threadId,
    agentId: init.agentId,
    version: 1,
    createdAt: now,
    lastActivity: now,
    messageCount: 0,
    messages: [],
    state: undefined,
    metadata: init.metadata ?? nothing,
    pending: nothingPending,
    size: emptySize,
  };
}

/** What a change makes of a record: the same in every store. */
export function changeSession(
  session: Session,
  change: SessionChange,
  options: PruneOptions & { now: number; ifVersion?: number | undefined },
): Session {
  const { now, ifVersion } = options;
  if (ifVersion !== undefined && ifVersion !== session.version) {
    throw new AgentError(
      "thread-busy",
      `Session "${session.threadId}" is at version ${session.version}, not ${ifVersion}.`,
    );
  }
  const all = mergeMessages(change.messages ?? session.messages, change.append);
  const { active = session.active } = change;
  const messages = pruneMessages(all, withBound(options, change.maxMessages));
  const state = "state" in change ? change.state : session.state;
  const size = sizeAfter(session, messages, state);
  if (change.maxBytes !== undefined) {
    assertFits(session, { messages, state, size }, change.maxBytes);
  }
  return {
    principal: session.principal,
    threadId: session.threadId,
    agentId: session.agentId,
    createdAt: session.createdAt,
    version: session.version + 1,
    // Clocks of several processes differ; a thread's time never runs backwards.
    lastActivity: Math.max(session.lastActivity, now),
    messages,
    times:
      messages === session.messages
        ? session.times
        : timesOf(messages, now, { known: session.times, given: change.times }),
    messageCount: session.messageCount + countNew(session.messages, all),
    state,
    metadata: mergeMetadata(session.metadata, change.metadata),
    pending: pendingAfter(session.pending, change.pending),
    lastRunId: change.lastRunId ?? session.lastRunId,
    active: active ?? undefined,
    historyOwner: session.historyOwner ?? change.historyOwner,
    pruned: prunedAfter(session.pruned, { held: session.messages, all, kept: messages }),
    pastRuns: pastRunsAfter(session.pastRuns, change.run),
    claimed: claimedAfter(session.claimed, change.claimed),
    size,
  };
}

// A run id occurs once: the request that was accepted last under an id is the one that counts.
function pastRunsAfter(before: Session["pastRuns"], run: PastRun | undefined): Session["pastRuns"] {
  if (!run) return before;
  if (!before) return [run];
  const others = before.some(({ runId }) => runId === run.runId)
    ? before.filter(({ runId }) => runId !== run.runId)
    : before;
  return [...(others.length < maxPastRuns ? others : others.slice(1 - maxPastRuns)), run];
}

function withBound(options: PruneOptions, bound: number | undefined): PruneOptions {
  const { maxMessages = Number.POSITIVE_INFINITY } = options;
  if (bound === undefined) return options;
  const { maxTokens, estimate } = options;
  return { maxMessages: Math.min(maxMessages, bound), maxTokens, estimate };
}

// Kept next to the messages, because AG-UI messages have no time: only for messages that are still
// stored, so that both have the same limit. A recorded time is never changed.
function timesOf(
  messages: readonly Message[],
  now: number,
  { known, given }: { readonly known: Session["times"]; readonly given: Session["times"] },
): Readonly<Record<string, number>> {
  // Without a prototype: `__proto__` is a name like any other, and a third of the memory is saved.
  const times = Object.create(null) as Record<string, number>;
  for (const message of messages) {
    times[message.id] = timeIn(known, message.id) ?? timeIn(given, message.id) ?? now;
    if (message.role !== "assistant" || !message.toolCalls) continue;
    for (const { id } of message.toolCalls) {
      const at = timeIn(known, id) ?? timeIn(given, id);
      if (at !== undefined) times[id] = at;
    }
  }
  return times;
}

function timeIn(times: Session["times"], id: string): number | undefined {
  return times && Object.hasOwn(times, id) ? times[id] : undefined;
}

function claimedAfter(
  before: Session["claimed"],
  after: SessionChange["claimed"],
): Session["claimed"] {
  if (after === undefined) return before;
  return after.length === 0 ? undefined : after;
}

// Empty before and after: all threads share one empty list.
function pendingAfter(
  before: Session["pending"],
  after: Session["pending"] | undefined,
): Session["pending"] {
  return after === undefined || (after.length === 0 && before.length === 0) ? before : after;
}

// Most runs have nothing to add, and then the record is shared.
function mergeMetadata(before: Readonly<Json>, added: Readonly<Json> | undefined): Readonly<Json> {
  for (const _ in added) return { ...before, ...added };
  return before;
}

function mergeMessages(
  messages: readonly Message[],
  append: readonly Message[] | undefined,
): readonly Message[] {
  if (append === undefined || append.length === 0) return messages;
  const merged = [...messages];
  const places = new Map(merged.map(({ id }, index) => [id, index]));
  for (const message of append) {
    const place = places.get(message.id);
    if (place === undefined) places.set(message.id, merged.push(message) - 1);
    else merged[place] = message;
  }
  return merged;
}

// Messages of users and assistants; tool results and activities are not counted. Messages before
// the oldest that is still stored were pruned, and counted when they were first stored.
function countNew(before: readonly Message[], after: readonly Message[]): number {
  if (before === after) return 0;
  const known = before.length === 0 ? noIds : idsOf(before);
  let count = 0;
  let isHere = false;
  for (const { id, role } of after) {
    if (known.has(id)) {
      // All new messages so far precede the oldest stored one.
      if (!isHere) count = 0;
      isHere = true;
    } else if (role === "user" || role === "assistant") count++;
  }
  return count;
}

const noIds: ReadonlySet<string> = new Set();

function idsOf(messages: readonly Message[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const message of messages) if (isPrunable(message)) ids.add(message.id);
  return ids;
}
