import { ulid } from "@holodeck/agui-core";
import { asText, isMessageId, isRecord } from "@holodeck/agui-core/internal";
import type { Json, Message, RunAgentInput } from "@holodeck/agui-core";
import { readPlainText, readUserContent } from "../shared/content.ts";
import { invalidParam } from "../shared/errors.ts";
import type { InstructionsTarget } from "../shared/instructions.ts";

type Assistant = Extract<Message, { role: "assistant" }>;
type Resume = NonNullable<RunAgentInput["resume"]>;

/** What the items of a request are made into. */
export interface ReadItems {
  readonly messages: Message[];
  readonly instructions: string[];
  /** Answers to approvals. */
  readonly resume: Resume;
}

/** Returns the item of the output that an id names. */
export type FindItem = (id: string, path: string) => Promise<Json>;

export interface ReadItemsOptions {
  readonly instructions: InstructionsTarget;
  readonly maxItems: number;
  readonly find: FindItem;
}

/** Reads `input` of a response: a text, or a list of items. */
export async function readItems(input: unknown, options: ReadItemsOptions): Promise<ReadItems> {
  const read: ReadItems = { messages: [], instructions: [], resume: [] };
  if (input === undefined || input === null) return read;
  if (typeof input === "string") {
    read.messages.push({ id: ulid(), role: "user", content: input });
    return read;
  }
  if (!Array.isArray(input)) throw invalidParam("input", "must be a string or a list of items.");
  if (input.length > options.maxItems) {
    throw invalidParam(
      "input",
      `must have at most ${options.maxItems} items; this has ${input.length}.`,
    );
  }
  for (const [index, entry] of (input as unknown[]).entries()) {
    const path = `input.${index}`;
    if (!isRecord(entry)) throw invalidParam(path, "must be an object.");
    const isReference = entry.type === "item_reference";
    const item = isReference ? await options.find(asText(entry.id) ?? "", `${path}.id`) : entry;
    takeItem(item, path, { read, target: options.instructions });
  }
  return read;
}

interface Taking {
  readonly read: ReadItems;
  readonly target: InstructionsTarget;
}

function takeItem(item: Json, path: string, { read, target }: Taking): void {
  const { type = "message", role, content } = item;
  switch (type) {
    case "message":
      if ((role === "system" || role === "developer") && target === "context") {
        read.instructions.push(readPlainText(content, `${path}.content`));
      } else read.messages.push(readMessage(item, path));
      return;
    case "function_call":
      return addCall(read.messages, item, path);
    case "function_call_output":
      read.messages.push(readOutput(item, path));
      return;
    case "mcp_approval_response":
      read.resume.push(readApproval(item, path));
      return;
    default:
      // Reasoning, calls that a provider would make itself, approvals that were asked for: agents have no use for them.
      if (typeof type === "string") return;
      throw invalidParam(`${path}.type`, "must be the type of an item, such as message.");
  }
}

function readMessage(item: Json, path: string): Message {
  const { role, content } = item;
  const id = idOf(item);
  switch (role) {
    case "user":
      return { id, role, content: readUserContent(content, `${path}.content`) };
    case "assistant":
      return { id, role, content: readPlainText(content, `${path}.content`) };
    case "system":
    case "developer":
      return { id, role, content: readPlainText(content, `${path}.content`) };
    default:
      throw invalidParam(`${path}.role`, "must be one of user, assistant, system and developer.");
  }
}

// Calls that were made together are calls of one message.
function addCall(messages: Message[], item: Json, path: string): void {
  const { call_id: id, name, arguments: args = "" } = item;
  if (!isMessageId(id) || typeof name !== "string" || typeof args !== "string") {
    throw invalidParam(path, "must be a function call with call_id, name and arguments.");
  }
  const call = { id, type: "function" as const, function: { name, arguments: args } };
  const last = messages.at(-1);
  if (last?.role === "assistant" && last.toolCalls) last.toolCalls.push(call);
  else messages.push({ id: idOf(item), role: "assistant", toolCalls: [call] } satisfies Assistant);
}

function readOutput(item: Json, path: string): Message {
  const { call_id: toolCallId, output } = item;
  if (!isMessageId(toolCallId)) {
    throw invalidParam(`${path}.call_id`, "must be the id of the call that it answers.");
  }
  return { id: ulid(), role: "tool", toolCallId, content: readPlainText(output, `${path}.output`) };
}

function readApproval(item: Json, path: string): Resume[number] {
  const { approval_request_id: id, approve, reason } = item;
  if (typeof id !== "string" || !id.startsWith("mcpr_")) {
    throw invalidParam(`${path}.approval_request_id`, "must be the id of an mcp_approval_request.");
  }
  if (typeof approve !== "boolean") throw invalidParam(`${path}.approve`, "must be true or false.");
  return {
    interruptId: id.slice("mcpr_".length),
    status: "resolved",
    payload: { approved: approve, ...(typeof reason === "string" && { reason }) },
  };
}

function idOf({ id }: Json): string {
  return isMessageId(id) ? id : ulid();
}
