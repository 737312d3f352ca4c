import { asText, describeValue, isMessageId, isRecord, own } from "@holodeck/agui-core/internal";
import type { Json, Message } from "@holodeck/agui-core";
import { decodePlainV4 } from "./decode-plain-v4.ts";
import type { DecodedChat, DecodeOptions } from "./decoded-chat.ts";
import { readEnvelope } from "./envelope.ts";
import { addFault, addWithinLimit, assertFaultless, createDecodeFaults } from "./faults.ts";
import type { DecodeFaults } from "./faults.ts";
import { decodeFile } from "./file-part.ts";
import { decodeAssistantV4 } from "./v4-assistant.ts";

type User = Extract<Message, { role: "user" }>;

/**
 * Reads what `useChat` of AI SDK 3.4 and 4 sends, and the `{ prompt }` of `useCompletion`. Members
 * that mean nothing here reach the agent in `forwardedProps`.
 */
export function decodeV4(body: Json, options: DecodeOptions): DecodedChat {
  return decodePlainV4(body, options) ?? decodeV4Closely(body, options);
}

/** The same, looking at everything that a client may have sent. */
export function decodeV4Closely(body: Json, options: DecodeOptions): DecodedChat {
  const findings = createDecodeFaults(options.limits);
  const sent = readMessages(body, options.runId, findings);
  const messages: Message[] = [];
  const lastAt = sent.map(({ role }) => role !== "data").lastIndexOf(true);
  sent.forEach((message, index) =>
    addWithinLimit(messages, decodeMessage(message, index === lastAt, findings), findings),
  );
  const { prompt: _, ...rest } = body;
  // `useCompletion` sends only this member; next to messages it is a custom member.
  const isCompletion = !("messages" in body) && !("message" in body);
  const { agentId, threadId, ...envelope } = readEnvelope(isCompletion ? rest : body, findings);
  assertFaultless(findings);
  const last = sent[lastAt];
  return {
    input: { ...envelope, threadId: threadId ?? options.runId, runId: options.runId, messages },
    ...(agentId !== undefined && { agentId }),
    ...(last?.role === "assistant" && { continues: last.id }),
  };
}

/** A message as it was sent, with the id it is known by here. */
interface Sent {
  readonly id: string;
  readonly role: unknown;
  readonly body: Json;
  /** Its place, for refusals. */
  readonly path: string;
}

function readMessages(body: Json, runId: string, findings: DecodeFaults): Sent[] {
  const list = own(body, "messages");
  // A message that comes alone adds to a list that the server has: it must not look like an old one.
  if (list === undefined) {
    const prompt = own(body, "prompt");
    const message = own(body, "message") ?? { role: "user", content: prompt };
    return [toSent(message, { path: "message", fallback: runId, findings })];
  }
  if (!Array.isArray(list)) {
    addFault(findings, "messages", `must be an array, not ${describeValue(list)}.`);
    return [];
  }
  const { messages: most } = findings.limits;
  if (list.length > most) {
    addFault(
      findings,
      "messages",
      `has ${list.length} entries; this server accepts at most ${most}.`,
    );
    return [];
  }
  // These clients keep their ids to themselves; the place in the list is the same in every request.
  return list.map((entry: unknown, index) =>
    toSent(entry, { path: `messages.${index}`, fallback: `message-${index}`, findings }),
  );
}

function toSent(
  value: unknown,
  { path, fallback, findings }: { path: string; fallback: string; findings: DecodeFaults },
): Sent {
  if (!isRecord(value)) {
    addFault(
      findings,
      path,
      `must be an object with role and content, not ${describeValue(value)}.`,
    );
    return { id: fallback, role: "data", body: {}, path };
  }
  const id = own(value, "id");
  const hasId = id !== undefined && id !== null && id !== "";
  if (hasId && !isMessageId(id)) addFault(findings, `${path}.id`, "must be 1 to 1024 characters.");
  return { id: isMessageId(id) ? id : fallback, role: own(value, "role"), body: value, path };
}

function decodeMessage(sent: Sent, isLast: boolean, findings: DecodeFaults): Message[] {
  const { id, role, body, path } = sent;
  switch (role) {
    case "user":
      return [decodeUser(sent, isLast, findings)];
    case "system":
      return [{ id, role, content: textOf(body) }];
    case "assistant":
      return decodeAssistantV4(id, body, { text: textOf(body), isLast });
    // Notes that a client writes to itself.
    case "data":
      return [];
    default: {
      const message = `must be "user", "assistant" or "system", not ${describeValue(role)}.`;
      addFault(findings, `${path}.role`, message);
      return [];
    }
  }
}

function textOf(body: Json): string {
  const content = own(body, "content");
  if (typeof content === "string" && content !== "") return content;
  const parts = Array.isArray(content) ? content : own(body, "parts");
  if (!Array.isArray(parts)) return "";
  return parts
    .filter(isRecord)
    .flatMap((part) => (part.type === "text" ? (asText(part.text) ?? []) : []))
    .join("");
}

function decodeUser({ id, body, path }: Sent, isNew: boolean, findings: DecodeFaults): User {
  const { limits } = findings;
  const content = own(body, "content");
  if (content !== undefined && typeof content !== "string" && !Array.isArray(content)) {
    addFault(findings, `${path}.content`, `must be a string, not ${describeValue(content)}.`);
  }
  const text = textOf(body);
  if (isNew && text.length > limits.messageChars) {
    addFault(
      findings,
      `${path}.content`,
      `has ${text.length} characters; this server accepts at most ${limits.messageChars}.`,
    );
  }
  const { fileBytes } = findings;
  const files = readAttachments(body, path, findings).concat(readFiles(body, path, findings));
  // What came before was accepted here.
  if (!isNew) findings.fileBytes = fileBytes;
  if (isNew && files.length > limits.files) {
    addFault(
      findings,
      path,
      `has ${files.length} files; this server accepts at most ${limits.files}.`,
    );
  }
  if (files.length === 0) return { id, role: "user", content: text };
  const parts = [...(text === "" ? [] : [{ type: "text", text }]), ...files];
  // Built here from known members only.
  return { id, role: "user", content: parts as unknown as User["content"] };
}

function readAttachments(body: Json, at: string, findings: DecodeFaults): Json[] {
  const list = own(body, "experimental_attachments");
  if (list === undefined || list === null) return [];
  const path = `${at}.experimental_attachments`;
  if (!Array.isArray(list)) {
    addFault(findings, path, `must be an array, not ${describeValue(list)}.`);
    return [];
  }
  if (hasTooMany(list, path, findings)) return [];
  return list.flatMap((entry: unknown, index) => {
    const { url, contentType, name } = isRecord(entry) ? entry : {};
    const file = { url, mediaType: asText(contentType), filename: asText(name) };
    return readFile(file, `${path}.${index}.url`, findings);
  });
}

// Bytes in separate parts, as in the assistant's messages.
function readFiles(body: Json, at: string, findings: DecodeFaults): Json[] {
  const parts = own(body, "parts");
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part: unknown, index) => {
    if (!isRecord(part) || part.type !== "file") return [];
    const mediaType = asText(part.mimeType) ?? "application/octet-stream";
    const bytes = asText(part.data);
    const url = bytes === undefined ? undefined : `data:${mediaType};base64,${bytes}`;
    return readFile({ url, mediaType }, `${at}.parts.${index}.data`, findings);
  });
}

// Each of them would be decoded, or be a fault.
function hasTooMany(list: readonly unknown[], path: string, findings: DecodeFaults): boolean {
  const { messages: most } = findings.limits;
  if (list.length <= most) return false;
  addFault(findings, path, `has ${list.length} entries; this server accepts at most ${most}.`);
  return true;
}

function readFile(
  file: { url: unknown; mediaType?: string | undefined; filename?: string | undefined },
  path: string,
  findings: DecodeFaults,
): Json[] {
  const { url, ...rest } = file;
  const decoded = typeof url === "string" ? decodeFile({ url, ...rest }) : undefined;
  if (!decoded) {
    addFault(findings, path, `must be a data: or http(s): URL, not ${describeValue(url)}.`);
    return [];
  }
  findings.fileBytes += decoded.bytes;
  return [decoded.part];
}
