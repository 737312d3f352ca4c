import { isRecord } from "@holodeck/agui-core/internal";
import type { Call, Message, ProtocolHost, RunRecord, Session } from "@holodeck/agui-core";
import type { DecodedChat } from "./decoded-chat.ts";
import { parseStructure } from "../shared/json.ts";

type Resume = NonNullable<DecodedChat["input"]["resume"]>;

/** What the thread knows of a request: the messages before a single one, the questions it answers. */
export async function withThread(
  decoded: DecodedChat,
  place: { call: Call; host: ProtocolHost; isSingle: boolean },
): Promise<DecodedChat> {
  if (!place.isSingle && decoded.continues === undefined) return decoded;
  const { threadId } = decoded.input;
  const principal = place.call.principal?.id ?? "";
  const session = await place.host.sessions.get({ principal, threadId });
  if (!session) return decoded;
  const answered = decoded.continues === undefined ? decoded : withAnswers(decoded, session);
  return place.isSingle ? withHistory(answered, session) : answered;
}

/** Ids of the messages and tool calls that follow the user's last word. */
export function heldIds(messages: readonly Message[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const message of afterUser(messages)) {
    ids.add(message.id);
    if (message.role !== "assistant") continue;
    for (const { id } of message.toolCalls ?? []) ids.add(id);
  }
  return ids;
}

/**
 * The content of a message before the run that continues it. Returns undefined when it cannot be
 * separated from the output of the run itself, because the thread was written to since.
 */
export async function heldBefore(
  record: RunRecord,
  host: ProtocolHost,
): Promise<readonly Message[] | undefined> {
  const session = await host.sessions.get(record);
  const { active } = session ?? {};
  if (!session || active?.runId !== record.runId || active.offset > 0) return undefined;
  return afterUser(session.messages);
}

function afterUser(messages: readonly Message[]): readonly Message[] {
  return messages.slice(messages.map(({ role }) => role).lastIndexOf("user") + 1);
}

// Before AI SDK 6 there are no approvals: a client answers the call that the question is about.
function withAnswers(decoded: DecodedChat, session: Session): DecodedChat {
  const { input } = decoded;
  const asked = new Map<string, string>();
  for (const { id, kind, value } of session.pending) {
    if (kind === "interrupt" && typeof value.toolCallId === "string")
      asked.set(value.toolCallId, id);
  }
  if (asked.size === 0) return decoded;
  const answered = new Set((input.resume ?? []).map(({ interruptId }) => interruptId));
  const resume: Resume = [...(input.resume ?? [])];
  const messages = input.messages.filter((message) => {
    const interruptId = message.role === "tool" ? asked.get(message.toolCallId) : undefined;
    if (interruptId === undefined || message.role !== "tool") return true;
    if (!answered.has(interruptId)) resume.push(toEntry(interruptId, message));
    return false;
  });
  return { ...decoded, input: { ...input, messages, ...(resume.length > 0 && { resume }) } };
}

function toEntry(
  interruptId: string,
  { content, error }: Extract<Message, { role: "tool" }>,
): Resume[number] {
  if (error !== undefined) return { interruptId, status: "cancelled" };
  const payload = typeof content === "string" ? parseStructure(content) : content;
  return {
    interruptId,
    status: "resolved",
    payload: isRecord(payload) ? payload : { value: payload },
  };
}

// A single message is added to the thread. A message that is already in the thread replaces itself
// and everything after it: it was edited, or is to be answered again.
function withHistory(decoded: DecodedChat, session: Session): DecodedChat {
  const { input } = decoded;
  const stored = session.messages.filter(({ role }) => role !== "activity");
  if (stored.length === 0) return decoded;
  const answered = new Set(
    stored.flatMap((message) => (message.role === "tool" ? message.toolCallId : [])),
  );
  // The assistant's messages are known here; only user messages and results are new.
  const news = input.messages.filter(
    (message) =>
      message.role === "user" || (message.role === "tool" && !answered.has(message.toolCallId)),
  );
  const ids = new Set(news.map(({ id }) => id));
  const known = stored.findIndex(({ id, role }) => role === "user" && ids.has(id));
  const before = known === -1 ? stored : stored.slice(0, known);
  return { ...decoded, input: { ...input, messages: [...before, ...news] } };
}
