import { AgentError } from "@holodeck/agui-core";
import { jsonBytes } from "@holodeck/agui-core/internal";
import type { Message, Session, SessionSize } from "@holodeck/agui-core";

/** The size of a thread without messages and state. */
export const emptySize: SessionSize = Object.freeze({
  messages: 0,
  characters: 0,
  messageBytes: 0,
  stateBytes: 0,
});

// What a value takes in memory besides its text.
const perObject = 56;
const perMember = 32;
const perItem = 8;
const perValue = 16;
// Two bytes for text that is not Latin-1, and one for what was dropped and is not collected yet: V8 lets a heap grow to
// four times what is in use before it collects (memory-figures.test.ts).
const perCharacter = 3;
// A character is at most six bytes of JSON, so JSON is at most twice what is counted here.
const jsonPerByte = 2;

/** Roughly what a JSON value takes in memory. The characters of texts are not read. */
export function memoryOf(value: unknown): number {
  if (typeof value === "string") return perValue + perCharacter * value.length;
  if (typeof value !== "object" || value === null) return perValue;
  let bytes = perObject;
  if (Array.isArray(value)) {
    for (const item of value) bytes += perItem + memoryOf(item);
    return bytes;
  }
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) bytes += perMember + perCharacter * key.length + memoryOf(member);
  }
  return bytes;
}

/**
 * The size of a thread after a change. Only messages that were not there before are counted: the others are the
 * same objects at the beginning of the list.
 */
export function sizeAfter(
  { size, messages: before, state: stateBefore }: Session,
  messages: readonly Message[],
  state: unknown,
): SessionSize {
  const isSameState = state === stateBefore;
  if (size && isSameState && messages === before) return size;
  const stateBytes = size && isSameState ? size.stateBytes : stateSize(state);
  if (size && messages === before) return { ...size, stateBytes };
  let same = 0;
  if (size) {
    const length = Math.min(before.length, messages.length);
    while (same < length && before[same] === messages[same]) same++;
    // Whichever is shorter: what is new and what is gone, or all of it.
    if (before.length - same > same) same = 0;
  }
  const isWhole = same === 0;
  const sums = { ...(size && !isWhole ? size : emptySize), stateBytes };
  for (let at = same; at < messages.length; at++) count(sums, messages[at]!, 1);
  if (!isWhole) for (let at = same; at < before.length; at++) count(sums, before[at]!, -1);
  return sums;
}

/** Throws `session-too-large` for a change that leaves a thread with more than so many bytes of JSON. */
export function assertFits(
  before: Session,
  after: { readonly messages: readonly Message[]; readonly state: unknown; size: SessionSize },
  maxBytes: number,
): void {
  const { size } = after;
  const bytes = totalOf(size);
  // Nearly always: it fits whatever its characters are.
  if (bytes * jsonPerByte <= maxBytes) return;
  if (before.size && bytes <= totalOf(before.size)) return;
  const exact = exactBytes(after.messages, after.state);
  if (exact <= maxBytes) return;
  throw sessionTooLarge(before.threadId, maxBytes);
}

/** The error of a thread that would hold more than it may. */
function sessionTooLarge(threadId: string, maxBytes: number): AgentError {
  return new AgentError(
    "session-too-large",
    `Thread "${threadId}" would be larger than limits.sessionBytes: ${maxBytes} bytes of messages and state.`,
  );
}

/** Roughly what messages and state take in memory. */
function totalOf({ messageBytes, stateBytes }: SessionSize): number {
  return messageBytes + stateBytes;
}

function stateSize(state: unknown): number {
  return state === undefined ? 0 : memoryOf(state);
}

function count(
  sums: { -readonly [Name in keyof SessionSize]: SessionSize[Name] },
  message: Message,
  sign: 1 | -1,
): void {
  sums.messageBytes += sign * (perItem + memoryOf(message));
  if (message.role === "reasoning" || message.role === "activity") return;
  sums.messages += sign;
  sums.characters += sign * charactersIn(message.content);
}

function charactersIn(content: Message["content"]): number {
  if (typeof content === "string") return content.length;
  if (!Array.isArray(content)) return 0;
  let characters = 0;
  for (const part of content) if (part.type === "text") characters += part.text.length;
  return characters;
}

// Only threads near their limit are counted exactly, and each message once.
const counted = new WeakMap<Message, number>();

function exactBytes(messages: readonly Message[], state: unknown): number {
  let bytes = 2 + jsonBytes(state);
  for (const message of messages) {
    let own = counted.get(message);
    if (own === undefined) {
      own = 1 + jsonBytes(message);
      counted.set(message, own);
    }
    bytes += own;
  }
  return bytes;
}
