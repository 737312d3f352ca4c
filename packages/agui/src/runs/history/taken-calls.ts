import { isApproved, toLostCallError, toMessageId } from "@holodeck/agui-core/internal";
import type { AskedCall, InterruptAnswer, Message, TakenCall } from "@holodeck/agui-core";

const none: readonly TakenCall[] = Object.freeze([]);

/**
 * The calls that a run is about to make, or to refuse, since a person has answered. They are stored with the
 * run, so that none of them is made again when its process ends in the middle of it.
 */
export function takenBy(
  answers: readonly InterruptAnswer[],
  history: readonly Message[],
  lost: readonly TakenCall[] = none,
): readonly TakenCall[] | undefined {
  if (answers.length === 0 && lost.length === 0) return undefined;
  const taken = answers.flatMap((answer): TakenCall[] => {
    const call = answer.call ?? findCall(history, answer.interrupt.toolCallId);
    return call ? [{ ...call, isApproved: isApproved(answer) }] : [];
  });
  const all = [...lost, ...taken];
  return all.length === 0 ? undefined : all;
}

/** The messages with an error for each taken call that has no result, and those calls. */
export function withLosses(
  messages: readonly Message[],
  taken: readonly TakenCall[] = [],
): { readonly messages: readonly Message[]; readonly lost: readonly TakenCall[] | undefined } {
  const lost = taken.filter(({ id }) => !hasResult(messages, id));
  if (lost.length === 0) return { messages, lost: undefined };
  return { messages: messages.flatMap((message) => [message, ...lossesOf(message, lost)]), lost };
}

function lossesOf(message: Message, lost: readonly TakenCall[]): Message[] {
  if (message.role !== "assistant") return [];
  const own = new Set(message.toolCalls?.map(({ id }) => id));
  return lost
    .filter(({ id }) => own.has(id))
    .map((call): Message => {
      const { code, message: text } = toLostCallError(call);
      return {
        id: toMessageId(`${call.id}:lost`),
        role: "tool",
        toolCallId: call.id,
        content: JSON.stringify({ error: { code, message: text } }),
        metadata: { error: code },
      };
    });
}

// A question by the agent itself carries no call; the thread has it.
function findCall(messages: readonly Message[], callId: string | undefined): AskedCall | undefined {
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    const found = message.toolCalls?.find(({ id }) => id === callId);
    if (!found) continue;
    const { name, arguments: text } = found.function;
    return { id: found.id, name, args: parse(text) };
  }
  return undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text || "{}") as unknown;
  } catch {
    return text;
  }
}

function hasResult(messages: readonly Message[], callId: string): boolean {
  return messages.some((message) => message.role === "tool" && message.toolCallId === callId);
}
