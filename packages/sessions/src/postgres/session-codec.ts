import type { ListedSession, Message, Session, ThreadKey } from "@holodeck/agui-core";
import { compareMessages } from "../kit/sessions/compare-messages.ts";
import type { MessageRow } from "../kit/sessions/compare-messages.ts";
import { joinSession, restOf } from "../kit/sessions/session-parts.ts";
import type { SessionRest } from "../kit/sessions/session-parts.ts";
import { fromText } from "../kit/storage/key-text.ts";

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

interface StoredRest {
  /** The time of the database. */
  readonly now: number;
  readonly state?: unknown;
  readonly data: Partial<SessionRest>;
  /** Where each message is stored, in their order. */
  readonly places: readonly number[];
}

/** A session and what is needed to change it. */
export interface FoundSession {
  readonly session: Session;
  readonly messages: readonly MessageRow[];
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
  const { now, state, data, places } = JSON.parse(json) as StoredRest;
  const listed = toListedSession(principal, toHead(head));
  const parsed = values.map((value) => JSON.parse(value) as Message);
  const messages = values.map((value, index) => ({ position: places[index]!, value }));
  return { session: joinSession(listed, parsed, { state, rest: data }), messages, now };
}

export function dataText(session: Session): string {
  return JSON.stringify(restOf(session));
}

/** What has to be written so that the rows contain `after`, in its order. */
export function compareStored(
  before: readonly MessageRow[],
  after: readonly Message[],
): { readonly removed: number[]; readonly written: readonly MessageRow[] } {
  const values = after.map((message) => JSON.stringify(message));
  const { changed, added, removed } = compareMessages(before, values);
  const last = before.at(-1)?.position ?? 0;
  const appended = added.map((value, index) => ({ position: last + index + 1, value }));
  return { removed, written: [...changed, ...appended] };
}
