import type { Message } from "@holodeck/agui-core";

export interface PruneOptions {
  /** Messages kept at most. By default all. */
  readonly maxMessages?: number | undefined;
  /** Estimated tokens kept at most. By default all. */
  readonly maxTokens?: number | undefined;
  /** By default a quarter of the characters. */
  readonly estimate?: ((message: Message) => number) | undefined;
}

/** The characters of messages, divided by four and rounded down. */
export function estimateTokens(messages: readonly Message[], charsPerToken = 4): number {
  let characters = 0;
  for (const message of messages) characters += charactersOf(message);
  return Math.floor(characters / charsPerToken);
}

/**
 * Drops the oldest messages beyond a limit. System and developer messages stay, and a tool call is
 * kept or dropped together with its results. The last messages stay, however long they are.
 */
export function pruneMessages(
  messages: readonly Message[],
  options: PruneOptions,
): readonly Message[] {
  const { maxMessages = Number.POSITIVE_INFINITY, maxTokens = Number.POSITIVE_INFINITY } = options;
  if (maxMessages === Number.POSITIVE_INFINITY && maxTokens === Number.POSITIVE_INFINITY) {
    return messages;
  }
  const { estimate = (message) => charactersOf(message) / 4 } = options;
  const units = toUnits(messages);
  let count = messages.length;
  let tokens = 0;
  for (const message of messages) tokens += estimate(message);
  const dropped = new Set<Message>();
  for (const unit of units.slice(0, -1)) {
    if (count <= maxMessages && Math.floor(tokens) <= maxTokens) break;
    for (const message of unit) {
      dropped.add(message);
      count--;
      tokens -= estimate(message);
    }
  }
  return dropped.size === 0 ? messages : messages.filter((message) => !dropped.has(message));
}

/** Whether a message may go when its thread becomes too long. */
export function isPrunable({ role }: Message): boolean {
  return role !== "system" && role !== "developer";
}

// What can be dropped, oldest first: a message alone, or a call with everything that answers it.
function toUnits(messages: readonly Message[]): Message[][] {
  const units: Message[][] = [];
  const unitOfCall = new Map<string, Message[]>();
  for (const message of messages) {
    if (!isPrunable(message)) continue;
    if (message.role === "tool") {
      const unit = unitOfCall.get(message.toolCallId);
      if (unit) {
        unit.push(message);
        continue;
      }
    }
    const unit = [message];
    units.push(unit);
    if (message.role !== "assistant") continue;
    for (const call of message.toolCalls ?? []) unitOfCall.set(call.id, unit);
  }
  return units;
}

function charactersOf(message: Message): number {
  let characters = 0;
  const { content } = message;
  if (typeof content === "string") characters += content.length;
  else if (Array.isArray(content)) {
    for (const part of content) if (part.type === "text") characters += part.text.length;
  } else if (content) characters += JSON.stringify(content).length;
  if (message.role === "assistant") {
    for (const { function: called } of message.toolCalls ?? []) {
      characters += called.name.length + called.arguments.length;
    }
  }
  return characters;
}
