import { asText, assertOptions } from "@holodeck/agui-core/internal";
import type { InterruptAnswer, Message } from "@holodeck/agui-core";
import { fileNameOf, textOf, toModelHistory, toolNames, urlOf } from "../_history.ts";
import type { AssistantMessage, HistoryPart, ToolMessage } from "../_history.ts";
import { parseArgs, toRecord } from "../_json.ts";

export type AiSdkUserPart =
  | { type: "text"; text: string }
  | { type: "file"; data: string; mediaType: string; filename?: string };

export type AiSdkAssistantPart =
  | { type: "text"; text: string }
  | { type: "tool-call"; toolCallId: string; toolName: string; input: unknown };

export interface AiSdkToolPart {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: { type: "text" | "error-text"; value: string };
}

/** A question to a person. From AI SDK 6. */
export interface AiSdkApprovalRequest {
  type: "tool-approval-request";
  approvalId: string;
  toolCallId: string;
  signature?: string;
}

/** The answer to it. */
export interface AiSdkApprovalResponse {
  type: "tool-approval-response";
  approvalId: string;
  approved: boolean;
  reason?: string;
}

/** A message as `streamText` takes it; with approvals that of AI SDK 6 and 7. */
export type AiSdkMessage<TRequest = never, TResponse = never> =
  | { role: "system"; content: string }
  | { role: "user"; content: string | AiSdkUserPart[] }
  | { role: "assistant"; content: (AiSdkAssistantPart | TRequest)[] }
  | { role: "tool"; content: (AiSdkToolPart | TResponse)[] };

/** A message of a conversation in which a person was asked. */
export type AiSdkAskedMessage = AiSdkMessage<AiSdkApprovalRequest, AiSdkApprovalResponse>;

export interface ToAiSdkMessagesOptions {
  /**
   * `context.session.answers`: the user's answers to the approvals that `fromAiSdk` asked for. From AI SDK 6.
   */
  readonly answers?: readonly InterruptAnswer[];
}

/**
 * `input.messages` as `streamText` takes them: images as files, each call followed by its result.
 *
 * @example
 * ```ts
 * streamText({ model, messages: toAiSdkMessages(input.messages) });
 * ```
 */
export function toAiSdkMessages(messages: readonly Message[]): AiSdkMessage[];
export function toAiSdkMessages(
  messages: readonly Message[],
  options: ToAiSdkMessagesOptions,
): AiSdkAskedMessage[];
export function toAiSdkMessages(
  messages: readonly Message[],
  options: ToAiSdkMessagesOptions = {},
): AiSdkAskedMessage[] {
  assertOptions("toAiSdkMessages", options, ["answers"]);
  const asked = new Map<string, InterruptAnswer>();
  for (const answer of options.answers ?? []) {
    const { toolCallId } = answer.interrupt;
    if (toolCallId !== undefined) asked.set(toolCallId, answer);
  }
  // A call with a result was made: `streamText` must not make it again.
  for (const message of messages) if (message.role === "tool") asked.delete(message.toolCallId);
  const names = toolNames(messages);
  const history = toModelHistory(messages, new Set(asked.keys())).map(
    (message): AiSdkAskedMessage => {
      switch (message.role) {
        case "user":
          return { role: "user", content: toUserContent(message.content) };
        case "assistant":
          return { role: "assistant", content: toAssistantParts(message, asked) };
        case "tool":
          return { role: "tool", content: [toResult(message, names)] };
        default:
          return { role: "system", content: message.content };
      }
    },
  );
  if (asked.size === 0) return history;
  return [...history, { role: "tool", content: [...asked.values()].map(toResponse) }];
}

function toUserContent(content: string | readonly HistoryPart[]): string | AiSdkUserPart[] {
  return typeof content === "string" ? content : content.flatMap(toUserPart);
}

function toUserPart(part: HistoryPart): AiSdkUserPart | AiSdkUserPart[] {
  if (part.type === "text") return { type: "text", text: part.text };
  const url = urlOf(part);
  if (url === undefined) return [];
  const { mimeType } = part.source;
  const name = fileNameOf(part);
  const file = name === undefined ? {} : { filename: name };
  return { type: "file", data: url, mediaType: mimeType ?? guesses[part.type], ...file };
}

// Its own part type for images is deprecated in AI SDK 7, and a file to the model in all of them.
const guesses = {
  image: "image/*",
  audio: "audio/mpeg",
  video: "video/mp4",
  document: "application/pdf",
};

function toAssistantParts(
  { content = "", toolCalls = [] }: AssistantMessage,
  asked: ReadonlyMap<string, InterruptAnswer>,
): (AiSdkAssistantPart | AiSdkApprovalRequest)[] {
  return [
    ...(content === "" ? [] : [{ type: "text" as const, text: content }]),
    ...toolCalls.flatMap(({ id, function: { name, arguments: args } }) => {
      const call = { toolCallId: id, toolName: name, input: parseArgs(args) };
      const answer = asked.get(id);
      return [{ type: "tool-call" as const, ...call }, ...(answer ? [toRequest(id, answer)] : [])];
    }),
  ];
}

function toRequest(toolCallId: string, { interrupt }: InterruptAnswer): AiSdkApprovalRequest {
  const signature = asText(toRecord(interrupt.metadata).signature);
  const signed = signature === undefined ? {} : { signature };
  return { type: "tool-approval-request", approvalId: interrupt.id, toolCallId, ...signed };
}

function toResponse({ interrupt, status, payload }: InterruptAnswer): AiSdkApprovalResponse {
  const { approved, reason } = toRecord(payload);
  const why = typeof reason === "string" ? { reason } : {};
  return {
    type: "tool-approval-response",
    approvalId: interrupt.id,
    approved: status === "resolved" && (approved === true || payload === true),
    ...why,
  };
}

function toResult(
  { toolCallId, content, error }: ToolMessage,
  names: ReadonlyMap<string, string>,
): AiSdkToolPart {
  const toolName = names.get(toolCallId) ?? "";
  const output =
    error === undefined
      ? { type: "text" as const, value: textOf(content) }
      : { type: "error-text" as const, value: textOf(content) || error };
  return { type: "tool-result", toolCallId, toolName, output };
}
