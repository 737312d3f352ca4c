import { isOpaqueId } from "@holodeck/agui-core";
import { asText, isMessageId, isRecord, own } from "@holodeck/agui-core/internal";
import type { Json, Message, RunAgentInput } from "@holodeck/agui-core";
import { decodePlainUi } from "./decode-plain-ui.ts";
import type { DecodedChat, DecodeOptions } from "./decoded-chat.ts";
import { readEnvelope } from "./envelope.ts";
import { addFault, addWithinLimit, assertFaultless, createDecodeFaults } from "./faults.ts";
import type { DecodeFaults } from "./faults.ts";
import { decodeFile } from "./file-part.ts";
import type { DecodedFile } from "./file-part.ts";
import { decodeAssistant } from "./ui-assistant.ts";
import type { Approval } from "./ui-assistant.ts";

type User = Extract<Message, { role: "user" }>;

/** Reads what `useChat` of AI SDK 5 to 7 sends: `messages`, or a single `message`, with `parts`. */
export function decodeUi(body: Json, options: DecodeOptions): DecodedChat {
  return decodePlainUi(body, options) ?? decodeUiClosely(body, options);
}

/** The same, looking at everything that a client may have sent. */
export function decodeUiClosely(body: Json, options: DecodeOptions): DecodedChat {
  const findings = createDecodeFaults(options.limits);
  const sent = readMessages(body, findings);
  const messages: Message[] = [];
  let approvals: readonly Approval[] = [];
  let continues: string | undefined;
  sent.forEach((message, index) => {
    const path = "messages" in body ? `messages.${index}` : "message";
    const fallback = "messages" in body ? `message-${index}` : options.runId;
    const id = readId(message, fallback, { findings, path });
    const isLast = index === sent.length - 1;
    const parts = partsOf(message);
    const role = own(message, "role");
    if (role === "assistant") {
      const metadata = own(message, "metadata");
      const decoded = decodeAssistant(id, parts, { metadata, isLast });
      addWithinLimit(messages, decoded.messages, findings);
      if (isLast) [continues, approvals] = [id, decoded.approvals];
    } else if (role === "user") {
      const user = decodeUser(id, parts, { findings, path, isNew: isLast });
      addWithinLimit(messages, [user], findings);
    } else if (role === "system") {
      addWithinLimit(messages, [{ id, role, content: textOf(parts) }], findings);
    } else if (role !== "data") {
      addFault(findings, `${path}.role`, 'must be "user", "assistant" or "system".');
    }
  });
  const { resume: given = [], agentId, ...envelope } = readEnvelope(body, findings);
  const resume = [...given, ...toResume(approvals, findings)];
  const denied = new Set(
    approvals.flatMap(({ approved, toolCallId }) => (approved === false ? toolCallId : [])),
  );
  assertFaultless(findings);
  const input: RunAgentInput = {
    ...envelope,
    // Copies of a request that names no thread are of one thread, too.
    threadId: envelope.threadId ?? threadOf(sent) ?? options.runId,
    runId: options.runId,
    messages,
    ...(resume.length > 0 && { resume }),
  };
  return {
    input,
    ...(agentId !== undefined && { agentId }),
    ...(continues !== undefined && { continues }),
    ...(denied.size > 0 && { denied }),
  };
}

// Some transports send no id of the chat; what they have received before has it.
function threadOf(sent: readonly Json[]): string | undefined {
  for (let index = sent.length - 1; index >= 0; index--) {
    const message = sent[index]!;
    const metadata = own(message, "role") === "assistant" && own(message, "metadata");
    const threadId = isRecord(metadata) ? own(metadata, "threadId") : undefined;
    if (isOpaqueId(threadId)) return threadId;
  }
  return undefined;
}

interface Place {
  readonly findings: DecodeFaults;
  readonly path: string;
}

function readMessages(body: Json, findings: DecodeFaults): Json[] {
  const { limits } = findings;
  const sent = "messages" in body ? own(body, "messages") : [own(body, "message")];
  if (!Array.isArray(sent)) {
    addFault(findings, "messages", "must be an array of UI messages.");
    return [];
  }
  if (sent.length > limits.messages) {
    const message = `has ${sent.length} entries; this server accepts at most ${limits.messages}.`;
    addFault(findings, "messages", message);
    return [];
  }
  return sent.map((message: unknown, index) => {
    if (isRecord(message)) return message;
    addFault(findings, `messages.${index}`, "must be an object with role and parts.");
    return { role: "data" };
  });
}

function readId(message: Json, fallback: string, { findings, path }: Place): string {
  const id = own(message, "id");
  // Old clients leave it out; its place in the list is the same with the next request.
  if (id === undefined || id === null || id === "") return fallback;
  if (isMessageId(id)) return id;
  addFault(findings, `${path}.id`, "must be 1 to 1024 characters.");
  return fallback;
}

/** The parts that are objects. A message without any may still have the `content` of older SDKs. */
function partsOf(message: Json): Json[] {
  const parts = own(message, "parts");
  if (Array.isArray(parts)) return parts.filter(isRecord);
  const content = own(message, "content");
  return typeof content === "string" ? [{ type: "text", text: content }] : [];
}

function textOf(parts: readonly Json[]): string {
  return parts
    .flatMap((part) => (part.type === "text" ? (asText(part.text) ?? []) : []))
    .join("\n");
}

function decodeUser(
  id: string,
  parts: readonly Json[],
  { findings, path, isNew }: Place & { readonly isNew: boolean },
): User {
  const content: Json[] = [];
  parts.forEach((part, index) => {
    if (part.type === "text" && typeof part.text === "string") {
      content.push({ type: "text", text: part.text });
    } else if (part.type === "file") {
      const file = decodeUserFile(part, { findings, path: `${path}.parts.${index}` });
      if (!file) return;
      content.push(file.part);
      // What came before was accepted here.
      if (isNew) findings.fileBytes += file.bytes;
    }
  });
  const text = textOf(parts);
  const { messageChars } = findings.limits;
  if (isNew && text.length > messageChars) {
    addFault(
      findings,
      `${path}.parts`,
      `has ${text.length} characters of text; this server accepts at most ${messageChars}.`,
    );
  }
  const files = content.filter(({ type }) => type !== "text").length;
  if (isNew && files > findings.limits.files) {
    const message = `has ${files} files; this server accepts at most ${findings.limits.files}.`;
    addFault(findings, `${path}.parts`, message);
  }
  const isPlain = content.every(({ type }) => type === "text");
  // Built above from known members only.
  return { id, role: "user", content: isPlain ? text : (content as unknown as User["content"]) };
}

function decodeUserFile(part: Json, { findings, path }: Place): DecodedFile | undefined {
  const url = asText(part.url);
  const file =
    url === undefined
      ? undefined
      : decodeFile({ url, mediaType: asText(part.mediaType), filename: asText(part.filename) });
  if (!file) addFault(findings, `${path}.url`, "must be a data: or http(s): URL.");
  return file;
}

function toResume(
  approvals: readonly Approval[],
  findings: DecodeFaults,
): NonNullable<RunAgentInput["resume"]> {
  return approvals.map(({ id, approved, reason }) => {
    // Anything but a real yes must never count as one.
    if (typeof approved !== "boolean") {
      addFault(
        findings,
        "messages",
        `answer the approval "${id}" with a value that is not a boolean.`,
      );
    }
    const payload = { approved, ...(reason !== undefined && { reason }) };
    return { interruptId: id, status: "resolved" as const, payload };
  });
}
