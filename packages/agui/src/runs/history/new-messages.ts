import { AgentError, SUPPORTED_MIME_TYPES } from "@holodeck/agui-core";
import { clip, isEqualJson, sizeOfBase64, typeOfUpload } from "@holodeck/agui-core/internal";
import type { Limits, Message, RunRequest, ThreadKey, SessionStore } from "@holodeck/agui-core";

type UserMessage = Extract<Message, { role: "user" }>;
type ContentPart = Exclude<UserMessage["content"], string>[number];
type FilePart = Extract<ContentPart, { source: unknown }>;

/** What holds for the messages that a user adds. */
export interface NewMessageRules {
  readonly limits: Limits;
  /** Whether a processor reads the files, and refuses what it cannot read. */
  readonly hasProcessor: boolean;
}

/**
 * Throws when what a user adds to a conversation is blank, too long, or has files that are not accepted.
 * All messages before the trailing user messages were accepted or sent by a server, and are sent back
 * unchanged.
 */
export function assertNewMessages(
  { input }: RunRequest,
  key: ThreadKey,
  rules: NewMessageRules & { readonly sessions: SessionStore },
): void | Promise<void> {
  const refused = findRefused(input.messages, rules, undefined);
  // The thread is asked only when it makes a difference: an agent may have put such a message there.
  if (refused) return refuseUnlessKnown(input.messages, key, rules);
}

async function refuseUnlessKnown(
  messages: readonly Message[],
  key: ThreadKey,
  rules: NewMessageRules & { readonly sessions: SessionStore },
): Promise<void> {
  const session = await rules.sessions.get(key);
  const refused = findRefused(messages, rules, session?.messages);
  if (refused) throw refused;
}

function findRefused(
  messages: readonly Message[],
  rules: NewMessageRules,
  known: readonly Message[] | undefined,
): AgentError | undefined {
  let inlineBytes = 0;
  let count = 0;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!;
    if (message.role !== "user") break;
    if (isPlain(message, rules.limits) || (known && holds(known, message))) continue;
    const refused = checkMessage(message, `messages.${at}`, rules);
    if (refused) return refused;
    inlineBytes += rules.hasProcessor ? 0 : inlineBytesOf(message);
    count += split(message.content).files.length;
  }
  const { inlineFileBytes, requestFiles } = rules.limits;
  if (count > requestFiles) {
    return invalid(
      "messages",
      `have ${count} files; this server accepts at most ${requestFiles} (limits.requestFiles).`,
    );
  }
  if (inlineBytes <= inlineFileBytes) return undefined;
  return new AgentError(
    "payload-too-large",
    `The files in the messages have ${inlineBytes} bytes; this server accepts at most ${inlineFileBytes}.`,
  );
}

// As most messages are: text that is not blank, and no file.
function isPlain({ content }: UserMessage, { messageChars }: Limits): boolean {
  return typeof content === "string" && content.length <= messageChars && hasText.test(content);
}

function holds(known: readonly Message[], { id, content }: UserMessage): boolean {
  return known.some((one) => one.id === id && isEqualJson(one.content, content));
}

function checkMessage(
  { content }: UserMessage,
  path: string,
  { limits, hasProcessor }: NewMessageRules,
): AgentError | undefined {
  const { text, files } = split(content);
  if (files.length === 0 && !hasText.test(text)) {
    return invalid(`${path}.content`, "must not be blank; a user message needs text or a file.");
  }
  if (text.length > limits.messageChars) {
    const message = `has ${text.length} characters of text; this server accepts at most ${limits.messageChars}.`;
    return invalid(`${path}.content`, message);
  }
  if (files.length > limits.files) {
    const message = `has ${files.length} files; this server accepts at most ${limits.files}.`;
    return invalid(`${path}.content`, message);
  }
  if (hasProcessor) return undefined;
  for (const file of files) {
    const refused = checkFile(file, `${path}.content`, limits);
    if (refused) return refused;
  }
  return undefined;
}

function split(content: UserMessage["content"]): { text: string; files: readonly FilePart[] } {
  if (typeof content === "string") return { text: content, files: noFiles };
  const texts = content.flatMap((part) => (part.type === "text" ? part.text : []));
  return { text: texts.join("\n"), files: content.filter((part) => part.type !== "text") };
}

const noFiles: readonly FilePart[] = [];
const hasText = /\S/;

function checkFile(
  { type, source, metadata }: FilePart,
  path: string,
  limits: Limits,
): AgentError | undefined {
  const { mimeType } = source;
  // Browsers send unknown types, such as `.md`, as plain bytes: then the name determines the type.
  const { filename } = (metadata ?? {}) as { filename?: unknown };
  const name = typeof filename === "string" ? filename : "";
  if (mimeType !== undefined && !isAccepted(type, typeOfUpload(name, mimeType))) {
    const message = `Unsupported MIME type: ${clip(mimeType, 100)}`;
    // 415 would be about the body itself; this is about one of the things in it.
    return new AgentError("unsupported-media-type", message, {
      status: 400,
      errors: [{ path, message }],
    });
  }
  if (source.type === "file") {
    const message = `There is no file "${clip(source.value, 100)}": this server stores no uploads.`;
    return new AgentError("file-not-found", message, { status: 400, errors: [{ path, message }] });
  }
  if (source.type !== "data") return undefined;
  const size = sizeOfBase64(source.value);
  if (size === undefined) return invalid(path, "has a file that is not valid base64.");
  if (size <= limits.fileBytes) return undefined;
  return new AgentError("payload-too-large", `A file is larger than ${limits.fileBytes} bytes.`);
}

// Only agents that know audio and video parts read them.
function isAccepted(part: FilePart["type"], mimeType: string): boolean {
  if (part === "audio" || part === "video") return mimeType.startsWith(`${part}/`);
  return SUPPORTED_MIME_TYPES.includes(mimeType);
}

function inlineBytesOf({ content }: UserMessage): number {
  let bytes = 0;
  for (const { source } of split(content).files) {
    if (source.type === "data") bytes += sizeOfBase64(source.value) ?? 0;
  }
  return bytes;
}

function invalid(path: string, text: string): AgentError {
  const message = `${path} ${text}`;
  return new AgentError("invalid-request", message, { errors: [{ path, message }] });
}
