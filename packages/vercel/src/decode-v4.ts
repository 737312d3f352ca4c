import { AgentError, describeValue, isOpaqueId } from "@holodeck/agui-core";
import type { Json, Message, RunAgentInput, Tool } from "@holodeck/agui-core";
import { readAssistantV4 } from "./_assistant-v4.ts";
import { toFilePart } from "./_file-part.ts";
import type { FilePart } from "./_file-part.ts";
import type { DecodedChat, DecodeOptions } from "./decoded-chat.ts";

/**
 * Reads what `useChat` of AI SDK 3.4 and 4 sends, and the `{ prompt }` of `useCompletion`. Keys that
 * have no meaning here reach the agent in `forwardedProps`.
 *
 * @example
 * ```ts
 * const { input, continues } = decodeV4(await request.json(), { runId: ulid(), limits });
 * ```
 */
export function decodeV4(body: Json, options: DecodeOptions): DecodedChat {
  const { id, messages, message, prompt, tools, resume, agentId, ...forwardedProps } = body;
  const { runId } = options;
  const sent = readList({ messages, message, prompt }, options);
  const read = sent.flatMap((entry, index) => readMessage(entry, index, { ...options, sent }));
  const input: RunAgentInput = {
    threadId: readThreadId(id) ?? runId,
    runId,
    state: {},
    messages: read,
    tools: readTools(tools),
    context: [],
    forwardedProps,
  };
  if (resume !== undefined) input.resume = readResume(resume);
  const last = sent.findLast(({ role }) => role !== "data");
  return {
    input,
    ...(typeof agentId === "string" && agentId !== "" ? { agentId } : {}),
    ...(last?.role === "assistant" ? { continues: last.id } : {}),
  };
}

/** A message with an id and a known role, not yet read further. */
export interface SentMessage extends Json {
  readonly id: string;
  readonly role: string;
  /** Where it stands in the body. */
  readonly path: string;
}

interface ReadOptions extends DecodeOptions {
  readonly sent: readonly SentMessage[];
}

const roles = ["user", "assistant", "system", "data"];

function readList(
  { messages, message, prompt }: Json,
  { runId, limits }: DecodeOptions,
): SentMessage[] {
  // A message that comes alone goes on a list that the server has: it must not look like an old one.
  if (typeof prompt === "string") {
    return [toSent({ role: "user", content: prompt }, "prompt", `${runId}-0`)];
  }
  if (messages === undefined && message !== undefined) {
    return [toSent(message, "message", `${runId}-0`)];
  }
  if (!Array.isArray(messages)) throw refusal("messages", messages, "an array");
  if (messages.length > limits.messages) {
    const text = `messages has ${messages.length} entries; this server accepts ${limits.messages}.`;
    throw invalid("messages", text);
  }
  if (messages.length === 0) throw invalid("messages", "messages is empty; send at least one.");
  // Clients of this generation keep their ids to themselves; the place is the same in every request.
  return messages.map((entry: unknown, index) =>
    toSent(entry, `messages.${index}`, `message-${index}`),
  );
}

function toSent(value: unknown, path: string, fallbackId: string): SentMessage {
  if (!isRecord(value)) throw refusal(path, value, "an object");
  const { id, role } = value;
  if (typeof role !== "string" || !roles.includes(role)) {
    throw refusal(`${path}.role`, role, `one of ${roles.map((one) => `"${one}"`).join(", ")}`);
  }
  if (id !== undefined && id !== null && id !== "" && !isOpaqueId(id)) {
    throw refusal(`${path}.id`, id, "1 to 256 visible characters");
  }
  return { ...value, id: isOpaqueId(id) ? id : fallbackId, role, path };
}

function readMessage(message: SentMessage, index: number, options: ReadOptions): Message[] {
  const { id, role, path } = message;
  const { limits, sent } = options;
  if (role === "data") return [];
  const text = readText(message);
  if (text.length > limits.messageChars) {
    const said = `${path}.content has ${text.length} characters; this server accepts ${limits.messageChars}.`;
    throw invalid(`${path}.content`, said);
  }
  if (role === "assistant") {
    const isLast = sent.slice(index + 1).every((later) => later.role === "data");
    return readAssistantV4(message, { text, isLast });
  }
  if (role === "system") return [{ id, role, content: text }];
  const files = readFiles(message, options);
  if (files.length === 0) return [{ id, role: "user", content: text }];
  const said = text === "" ? [] : [{ type: "text" as const, text }];
  return [{ id, role: "user", content: [...said, ...files] }];
}

function readText({ content, parts, path }: SentMessage): string {
  if (typeof content === "string" && content !== "") return content;
  const list = Array.isArray(content) ? content : Array.isArray(parts) ? parts : [];
  if (content !== undefined && content !== null && content !== "" && !Array.isArray(content)) {
    throw refusal(`${path}.content`, content, "a string");
  }
  return list
    .map((part: unknown) => (isRecord(part) && part.type === "text" ? part.text : ""))
    .filter((text) => typeof text === "string")
    .join("");
}

function readFiles(message: SentMessage, { limits }: DecodeOptions): FilePart[] {
  const { experimental_attachments: attachments = [], parts, path } = message;
  const at = `${path}.experimental_attachments`;
  if (!Array.isArray(attachments)) throw refusal(at, attachments, "an array");
  const inline = (Array.isArray(parts) ? parts : []).filter(
    (part: unknown): part is Json => isRecord(part) && part.type === "file",
  );
  const count = attachments.length + inline.length;
  if (count > limits.files) {
    throw invalid(at, `${path} has ${count} files; this server accepts ${limits.files}.`);
  }
  return [
    ...attachments.map((attachment: unknown, index) => {
      const where = `${at}.${index}`;
      if (!isRecord(attachment)) throw refusal(where, attachment, "an object");
      const { url, contentType, name } = attachment;
      if (typeof url !== "string") throw refusal(`${where}.url`, url, "a string");
      const file = { url, mediaType: text(contentType), filename: text(name) };
      return toFilePart({ ...file, path: `${where}.url` }, limits);
    }),
    ...inline.map(({ data, mimeType }) => {
      const mediaType = text(mimeType) ?? "application/octet-stream";
      const url = `data:${mediaType};base64,${text(data) ?? ""}`;
      return toFilePart({ url, mediaType, path: `${path}.parts` }, limits);
    }),
  ];
}

function readThreadId(id: unknown): string | undefined {
  if (id === undefined || id === null) return undefined;
  if (isOpaqueId(id)) return id;
  throw refusal("id", id, "1 to 256 visible characters");
}

// A list as in AG-UI, or a map by name as assistant-ui sends it.
function readTools(tools: unknown): Tool[] {
  if (tools === undefined || tools === null) return [];
  const list = Array.isArray(tools)
    ? tools
    : isRecord(tools)
      ? Object.entries(tools).map(([name, tool]) => ({ ...(isRecord(tool) ? tool : {}), name }))
      : undefined;
  if (list === undefined) throw refusal("tools", tools, "an array or an object");
  return list.map((tool: unknown, index) => {
    if (!isRecord(tool)) throw refusal(`tools.${index}`, tool, "an object");
    const { name, description, parameters } = tool;
    if (typeof name !== "string") throw refusal(`tools.${index}.name`, name, "a string");
    return { name, description: text(description) ?? "", parameters: parameters ?? {} };
  });
}

function readResume(resume: unknown): NonNullable<RunAgentInput["resume"]> {
  if (!Array.isArray(resume)) throw refusal("resume", resume, "an array");
  return resume.map((entry: unknown, index) => {
    const path = `resume.${index}`;
    if (!isRecord(entry)) throw refusal(path, entry, "an object");
    const { interruptId, status = "resolved", payload } = entry;
    if (typeof interruptId !== "string") {
      throw refusal(`${path}.interruptId`, interruptId, "a string");
    }
    if (status !== "resolved" && status !== "cancelled") {
      throw refusal(`${path}.status`, status, '"resolved" or "cancelled"');
    }
    return { interruptId, status, ...(payload === undefined ? {} : { payload }) };
  });
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function refusal(path: string, value: unknown, expected: string): AgentError {
  const said = value === undefined ? "is missing; it" : "";
  const message = said
    ? `${path} ${said} must be ${expected}.`
    : `${path} must be ${expected}, not ${describeValue(value)}.`;
  return invalid(path, message);
}

function invalid(path: string, message: string): AgentError {
  return new AgentError("invalid-request", message, { errors: [{ path, message }] });
}
