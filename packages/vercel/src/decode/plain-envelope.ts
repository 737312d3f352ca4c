import type { Json, Message, RunAgentInput } from "@holodeck/agui-core";
import type { DecodedChat } from "./decoded-chat.ts";

/**
 * The members of a body that are the client's own, where there are no others but `id` and `messages`:
 * those with a meaning take the closer look of `readEnvelope`.
 */
export function readOwnMembers(body: Json): Json | undefined {
  const members: Json = {};
  for (const key of Object.keys(body)) {
    switch (key) {
      case "id":
      case "messages":
        break;
      case "message":
      case "tools":
      case "context":
      case "resume":
      case "state":
      case "agentId":
      case "__proto__":
        return undefined;
      default:
        members[key] = body[key];
    }
  }
  return members;
}

/** Every message read by `read`; nothing when there are too many, or one of them is not plain. */
export function readEach(
  sent: readonly unknown[],
  most: number,
  read: (message: unknown, index: number) => Message | undefined,
): Message[] | undefined {
  if (sent.length > most) return undefined;
  const messages: Message[] = [];
  for (let index = 0; index < sent.length; index++) {
    const message = read(sent[index], index);
    if (message === undefined) return undefined;
    messages.push(message);
  }
  return messages;
}

/** A run that nothing but messages was sent for, its members in the order of a closer look. */
export function toPlainChat(
  given: Pick<RunAgentInput, "threadId" | "runId" | "messages"> & { forwardedProps: Json },
): DecodedChat {
  const { forwardedProps, threadId, runId, messages } = given;
  const input = {
    tools: [],
    context: [],
    forwardedProps,
    state: {},
    threadId,
    runId,
    messages,
  };
  return { input };
}

/**
 * The only text among the parts of an assistant's message, which may also have steps. Returns undefined
 * when there is none, or more than that.
 */
export function onlyTextPart(parts: readonly unknown[]): Json | undefined {
  let found: Json | undefined;
  for (const part of parts) {
    const { type, text } = (part ?? {}) as Json;
    if (type === "step-start") continue;
    if (type !== "text" || typeof text !== "string" || text === "" || found) return undefined;
    found = part as Json;
  }
  return found;
}
