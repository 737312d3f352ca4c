import { isMessageId, isRecord } from "@holodeck/agui-core/internal";
import { ulid } from "@holodeck/agui-core";
import type { Json, Limits, Message } from "@holodeck/agui-core";
import { readPlainText, readUserContent } from "../shared/content.ts";
import { invalidParam } from "../shared/errors.ts";
import type { InstructionsTarget } from "../shared/instructions.ts";

type Assistant = Extract<Message, { role: "assistant" }>;
type ToolCalls = NonNullable<Assistant["toolCalls"]>;

/** The messages of a request, and what its system and developer messages demand. */
export interface ChatMessages {
  readonly messages: Message[];
  readonly instructions: readonly string[];
}

/** Reads `messages` of a chat completion. They have no ids there, so they get new ones. */
export function readChatMessages(
  value: unknown,
  { messages: most }: Limits,
  target: InstructionsTarget,
): ChatMessages {
  if (!Array.isArray(value) || value.length === 0) {
    throw invalidParam("messages", "must be a list with at least one message.");
  }
  if (value.length > most) {
    throw invalidParam("messages", `must have at most ${most} entries; this has ${value.length}.`);
  }
  const messages: Message[] = [];
  const instructions: string[] = [];
  (value as unknown[]).forEach((entry, index) => {
    const path = `messages.${index}`;
    if (!isRecord(entry)) throw invalidParam(path, "must be an object.");
    const { role, content } = entry;
    if ((role === "system" || role === "developer") && target === "context") {
      instructions.push(readPlainText(content, `${path}.content`));
    } else messages.push(readMessage(entry, path));
  });
  return { messages, instructions };
}

function readMessage(entry: Json, path: string): Message {
  const { role, content, tool_calls: calls } = entry;
  const id = ulid();
  const name = typeof entry.name === "string" ? { name: entry.name } : {};
  switch (role) {
    case "user":
      return { id, role, content: readUserContent(content, `${path}.content`), ...name };
    case "assistant": {
      const text = readPlainText(content, `${path}.content`);
      const toolCalls = readCalls(calls, `${path}.tool_calls`);
      return {
        id,
        role,
        ...(text !== "" && { content: text }),
        ...(toolCalls.length > 0 && { toolCalls }),
        ...name,
      };
    }
    case "tool": {
      const toolCallId = entry.tool_call_id;
      if (!isMessageId(toolCallId)) {
        throw invalidParam(`${path}.tool_call_id`, "must be the id of the call that it answers.");
      }
      return { id, role, toolCallId, content: readPlainText(content, `${path}.content`) };
    }
    case "system":
    case "developer":
      return { id, role, content: readPlainText(content, `${path}.content`), ...name };
    default:
      throw invalidParam(
        `${path}.role`,
        "must be one of system, developer, user, assistant and tool.",
      );
  }
}

function readCalls(value: unknown, path: string): ToolCalls {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalidParam(path, "must be a list.");
  return (value as unknown[]).map((call, index) => {
    const { id, function: made } = isRecord(call) ? call : {};
    const { name, arguments: args = "" } = isRecord(made) ? made : {};
    if (!isMessageId(id) || typeof name !== "string" || typeof args !== "string") {
      throw invalidParam(
        `${path}.${index}`,
        "must be a function call with id, name and arguments.",
      );
    }
    return { id, type: "function", function: { name, arguments: args } };
  });
}
