import { asText, isMessageId, isRecord, own } from "@holodeck/agui-core/internal";
import type { Json, Message } from "@holodeck/agui-core";

type Assistant = Extract<Message, { role: "assistant" }>;
type ToolCall = NonNullable<Assistant["toolCalls"]>[number];
type ToolMessage = Extract<Message, { role: "tool" }>;

/** A client's answer to a question of the agent's. */
export interface Approval {
  readonly id: string;
  readonly toolCallId: string;
  readonly approved: unknown;
  readonly reason?: string;
}

export interface DecodedAssistant {
  readonly messages: readonly Message[];
  /** Answered in the last step, which contains the agent's questions. */
  readonly approvals: readonly Approval[];
}

interface Entry {
  message: Message;
  readonly results: ToolMessage[];
}

/**
 * Splits one message of the client into the messages it was made from. Parts that this server streamed
 * have the id of their message in their metadata; others are split where a step starts, or where text
 * follows an answered tool.
 */
export function decodeAssistant(
  id: string,
  parts: readonly Json[],
  { metadata, isLast }: { metadata: unknown; isLast: boolean },
): DecodedAssistant {
  const entries: Entry[] = [];
  const byId = new Map<string, Entry>();
  /** A call is made once, however often a client shows it. */
  const callers = new Map<string, Entry>();
  const answered = new Set<string>();
  const encrypted = encryptedValues(metadata);
  let approvals: Approval[] = [];
  let block = 0;
  let isBlockAnswered = false;

  function entryOf(messageId: string, create: () => Message): Entry {
    let entry = byId.get(messageId);
    if (!entry) {
      entry = { message: { ...create(), ...encrypted(messageId) }, results: [] };
      byId.set(messageId, entry);
      entries.push(entry);
    }
    return entry;
  }

  function assistantOf(origin: Json): Entry & { message: Assistant } {
    let messageId = isMessageId(origin.messageId) ? origin.messageId : blockId();
    // An id that another kind of message has taken: a client made it up.
    while (byId.get(messageId)?.message.role === "reasoning") {
      nextBlock();
      messageId = blockId();
    }
    const tag = ownerOf(origin);
    const create = (): Message => ({ id: messageId, role: "assistant", ...tag });
    return entryOf(messageId, create) as Entry & { message: Assistant };
  }

  function blockId(): string {
    return block === 0 ? id : `${id}:${block}`;
  }

  function nextBlock(): void {
    block++;
    isBlockAnswered = false;
  }

  function takeText(part: Json): void {
    const text = asText(part.text);
    if (!text) return;
    if (isBlockAnswered) nextBlock();
    const { message } = assistantOf(originIn(part.providerMetadata));
    message.content = (message.content ?? "") + text;
  }

  function takeReasoning(part: Json): void {
    const text = asText(part.text);
    if (!text) return;
    if (isBlockAnswered) nextBlock();
    const origin = originIn(part.providerMetadata);
    const fallback = `${id}:reasoning-${entries.length}`;
    const messageId = isMessageId(origin.messageId) ? origin.messageId : fallback;
    const { message } = entryOf(messageId, () => ({
      id: messageId,
      role: "reasoning",
      content: "",
      ...ownerOf(origin),
    }));
    if (message.role === "reasoning") message.content += text;
  }

  function takeTool(part: Json, name: string): void {
    const { toolCallId } = part;
    // Half a call is none.
    if (!isMessageId(toolCallId) || part.state === "input-streaming") return;
    const result = resultOf(part);
    // A waiting call in an older message was abandoned, and models do not accept an open call.
    if (!isLast && !result) return;
    const entry = callers.get(toolCallId) ?? takeCall(part, toolCallId, name);
    if (!result || answered.has(toolCallId)) return;
    answered.add(toolCallId);
    isBlockAnswered = true;
    entry.results.push({ id: `${toolCallId}:result`, role: "tool", toolCallId, ...result });
  }

  function takeCall(part: Json, toolCallId: string, name: string): Entry {
    const entry = assistantOf(originIn(part.callProviderMetadata));
    callers.set(toolCallId, entry);
    const call: ToolCall = {
      id: toolCallId,
      type: "function",
      function: { name, arguments: toArguments(part) },
      ...encrypted(toolCallId),
    };
    (entry.message.toolCalls ??= []).push(call);
    const approval = approvalIn(part);
    if (approval) approvals.push({ ...approval, toolCallId });
    return entry;
  }

  for (const part of parts) {
    const type = asText(own(part, "type")) ?? "";
    if (type === "step-start") {
      // The first one opens the first block.
      if (entries.length > 0) nextBlock();
      approvals = [];
    } else if (type === "text") takeText(part);
    else if (type === "reasoning") takeReasoning(part);
    else if (type === "dynamic-tool") takeTool(part, asText(part.toolName) ?? "");
    else if (type.startsWith("tool-")) takeTool(part, type.slice("tool-".length));
  }
  return { messages: entries.flatMap(({ message, results }) => [message, ...results]), approvals };
}

function originIn(providerMetadata: unknown): Json {
  const origin = isRecord(providerMetadata) ? own(providerMetadata, "agui") : undefined;
  return isRecord(origin) ? origin : {};
}

function ownerOf(origin: Json): { name?: string; subagentRunId?: string } {
  const { name, subagentRunId } = origin;
  return {
    ...(typeof name === "string" && { name }),
    ...(isMessageId(subagentRunId) && { subagentRunId }),
  };
}

interface Encrypted {
  readonly encryptedValue?: string;
  readonly encryptedValueType?: string;
}

function encryptedValues(metadata: unknown): (id: string) => Encrypted {
  const agui = isRecord(metadata) ? own(metadata, "agui") : undefined;
  const [values, types] = isRecord(agui)
    ? [own(agui, "encrypted"), own(agui, "encryptedTypes")]
    : [];
  return (id) => {
    const value = isRecord(values) ? own(values, id) : undefined;
    if (typeof value !== "string") return {};
    const type = isRecord(types) ? own(types, id) : undefined;
    const label = typeof type === "string" ? { encryptedValueType: type } : {};
    return { encryptedValue: value, ...label };
  };
}

function toArguments({ input, rawInput }: Json): string {
  const given = input ?? rawInput ?? {};
  return typeof given === "string" ? given : JSON.stringify(given);
}

function approvalIn({ state, approval }: Json): Omit<Approval, "toolCallId"> | undefined {
  if (state !== "approval-responded" || !isRecord(approval)) return undefined;
  const { id, approved, reason } = approval;
  if (typeof id !== "string") return undefined;
  return { id, approved, ...(typeof reason === "string" && { reason }) };
}

function resultOf(part: Json): Pick<ToolMessage, "content" | "error"> | undefined {
  if (part.state === "output-available" && part.preliminary !== true) {
    const { output } = part;
    return { content: typeof output === "string" ? output : JSON.stringify(output ?? null) };
  }
  if (part.state === "output-error") {
    const error = asText(part.errorText) ?? "The tool failed.";
    return { content: error, error };
  }
  if (part.state !== "output-denied") return undefined;
  const reason = isRecord(part.approval) ? asText(part.approval.reason) : undefined;
  const error = reason ?? "Tool execution denied.";
  return { content: error, error };
}
