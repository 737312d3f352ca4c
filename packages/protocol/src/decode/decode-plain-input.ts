import { isOpaqueId } from "@holodeck/agui-core";
import { isMessageId } from "@holodeck/agui-core/internal";
import type { Json, Message, RunAgentInput, Tool } from "@holodeck/agui-core";
import type { DecodedRunInput } from "./decode-run-input.ts";
import type { InputLimits } from "./normalise-input.ts";

/**
 * Fast path for input as our own clients write it, which is nearly every one: every member of AG-UI 1.0 in
 * its place, and messages of text. Returns undefined to fall back to the schema, which reports errors.
 */
export function decodePlainInput(body: unknown, limits: InputLimits): DecodedRunInput | undefined {
  // The members that are read below rule out arrays.
  if (!isObject(body) || !hasOnlyMembers(body)) return undefined;
  const { threadId, runId, protocolVersion, agentId, state, forwardedProps } = body;
  if (!isOpaqueId(threadId) || !isOpaqueId(runId)) return undefined;
  if (!isVersion(protocolVersion) || !isName(agentId)) return undefined;
  if (isNothing(state) || isNothing(forwardedProps)) return undefined;
  const { messages: sent } = body;
  if (!Array.isArray(sent) || sent.length > (limits.messages ?? Infinity)) return undefined;
  const messages = copyAll(sent, toPlainMessage);
  const tools = copyAll(body["tools"], toPlainTool);
  const context = copyAll(body["context"], toPlainContext);
  if (!messages || !tools || !context || isTooLong(messages.at(-1), limits)) return undefined;
  const input: RunAgentInput =
    protocolVersion === undefined
      ? { threadId, runId, state, messages, tools, context, forwardedProps }
      : { threadId, runId, protocolVersion, state, messages, tools, context, forwardedProps };
  const decoded: DecodedRunInput = { input, warnings: [] };
  if (agentId !== undefined) decoded.agentId = agentId;
  if (protocolVersion !== undefined) decoded.protocolVersion = protocolVersion;
  return decoded;
}

// More of anything is looked at one by one.
const maxEntries = 10_000;

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

function hasOnlyMembers(body: Json): boolean {
  for (const key in body) {
    switch (key) {
      case "threadId":
      case "runId":
      case "protocolVersion":
      case "agentId":
      case "state":
      case "messages":
      case "tools":
      case "context":
      case "forwardedProps":
        break;
      default:
        return false;
    }
  }
  return true;
}

function isVersion(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === "string" && /^\d+\.\d+$/.test(value));
}

function isName(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === "string" && value !== "");
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}

/** Copies, because other code may own the body. Returns undefined when one of them is not plain. */
function copyAll<T>(list: unknown, copy: (entry: Json) => T | undefined): T[] | undefined {
  if (!Array.isArray(list) || list.length > maxEntries) return undefined;
  // Not pushed one by one: that makes room for sixteen, and a run keeps its input to the end.
  const copies = (list as unknown[]).map((entry) => (isObject(entry) ? copy(entry) : undefined));
  return copies.includes(undefined) ? undefined : (copies as T[]);
}

/** Whether a user wrote more than is accepted; what came before was sent or accepted here. */
function isTooLong(last: Message | undefined, { messageChars = Infinity }: InputLimits): boolean {
  return last?.role === "user" && last.content.length > messageChars;
}

function toPlainMessage(message: Json): Message | undefined {
  const { id, role, content } = message;
  if (!isMessageId(id) || typeof content !== "string") return undefined;
  if (countMembers(message) !== 3) return undefined;
  switch (role) {
    case "user":
    case "assistant":
    case "system":
    case "developer":
      return { id, role, content };
    default:
      return undefined;
  }
}

function toPlainTool(tool: Json): Tool | undefined {
  const { name, description, parameters } = tool;
  if (typeof name !== "string" || typeof description !== "string") return undefined;
  if (isNothing(parameters) || countMembers(tool) !== 3) return undefined;
  return { name, description, parameters };
}

function toPlainContext(entry: Json): RunAgentInput["context"][number] | undefined {
  const { description, value } = entry;
  if (typeof description !== "string" || typeof value !== "string") return undefined;
  return countMembers(entry) === 2 ? { description, value } : undefined;
}

function countMembers(value: Json): number {
  let count = 0;
  for (const _ in value) count++;
  return count;
}
