import type { ListedSession, Message, Session, ThreadKey } from "@holodeck/agui-core";
import { fromText } from "../kit/key-text.ts";

/** What a list shows of a session, as the functions of the schema return it. */
interface SessionHead {
  /** The order of those of the same moment. */
  readonly id: number;
  readonly threadId: string;
  readonly agentId: string;
  readonly version: number;
  readonly createdAt: number;
  readonly lastActivity: number;
  readonly messageCount: number;
  readonly metadata: Session["metadata"];
  readonly lastRunId: string | null;
  readonly size: Session["size"];
  /** The last run that has no end, or was lost. */
  readonly activeRunId: string | null;
}

interface SessionRest {
  /** The time of the database. */
  readonly now: number;
  readonly state?: unknown;
  readonly data: Partial<SessionData>;
  /** Where each message is stored, in their order. */
  readonly places: readonly number[];
}

/** What is stored together: no query looks into it. */
type SessionData = Pick<
  Session,
  "pending" | "active" | "times" | "historyOwner" | "pruned" | "pastRuns" | "claimed"
>;

export interface StoredMessage {
  readonly place: number;
  readonly value: string;
}

/** A session and what is needed to change it. */
export interface FoundSession {
  readonly session: Session;
  readonly messages: readonly StoredMessage[];
  /** The time of the database. */
  readonly now: number;
}

export function toHead(json: string): SessionHead {
  return JSON.parse(json) as SessionHead;
}

export function toListedSession(principal: string, head: SessionHead): ListedSession {
  return {
    principal,
    threadId: fromText(head.threadId),
    agentId: fromText(head.agentId),
    version: head.version,
    createdAt: head.createdAt,
    lastActivity: head.lastActivity,
    messageCount: head.messageCount,
    metadata: head.metadata,
    lastRunId: head.lastRunId === null ? undefined : fromText(head.lastRunId),
    size: head.size,
    activeRunId: head.activeRunId === null ? undefined : fromText(head.activeRunId),
  };
}

/** What `read_session` returned: the session in two parts, then its messages. */
export function toFound(
  { principal }: ThreadKey,
  rows: readonly (string | null)[],
): FoundSession | undefined {
  const [head, json, ...values] = rows as string[];
  if (head === undefined || json === undefined) return undefined;
  const { now, state, data, places } = JSON.parse(json) as SessionRest;
  const { pending = [], active, times, historyOwner, pruned, pastRuns, claimed } = data;
  const { activeRunId: _, ...listed } = toListedSession(principal, toHead(head));
  const session: Session = {
    ...listed,
    messages: values.map((value) => JSON.parse(value) as Message),
    state,
    pending,
    active,
    times,
    historyOwner,
    pruned,
    pastRuns,
    claimed,
  };
  const messages = values.map((value, index) => ({ place: places[index]!, value }));
  return { session, messages, now };
}

export function dataText(session: Session): string {
  const { pending, active, times, historyOwner, pruned, pastRuns, claimed } = session;
  const data: SessionData = {
    pending,
    active,
    times,
    historyOwner,
    pruned,
    pastRuns,
    claimed,
  };
  return JSON.stringify(data);
}

/** What has to be written so that the rows contain `after`, in its order. */
export function compareStored(
  before: readonly StoredMessage[],
  after: readonly Message[],
): { readonly removed: number[]; readonly written: StoredMessage[] } {
  const removed: number[] = [];
  const written: StoredMessage[] = [];
  const index = new Map(
    before.map(({ value }, at) => [(JSON.parse(value) as { id?: unknown }).id, at]),
  );
  let place = before.at(-1)?.place ?? 0;
  let old = 0;
  let isAdding = false;
  for (const message of after) {
    const value = JSON.stringify(message);
    const at = index.get(message.id);
    // From the first one that has no place after the previous one on, all are written again at the end.
    isAdding ||= at === undefined || at < old;
    if (isAdding) {
      written.push({ place: ++place, value });
      continue;
    }
    for (; old < at!; old++) removed.push(before[old]!.place);
    const stored = before[old++]!;
    if (stored.value !== value) written.push({ place: stored.place, value });
  }
  for (; old < before.length; old++) removed.push(before[old]!.place);
  return { removed, written };
}
