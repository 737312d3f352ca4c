import { asText, isRecord } from "@holodeck/agui-core/internal";
import { EventType } from "@ag-ui/core";
import type { BaseEvent, Message, RunAgentInput } from "@ag-ui/core";
import type { SentRequest } from "../model.ts";
import type { Decoded, Sent } from "./exchange.ts";
import { send } from "./exchange.ts";
import { parseRecord } from "./json.ts";
import type { Json } from "@holodeck/agui-core";
import { sseFrames } from "./sse-frames.ts";
import type { SendOptions } from "./types.ts";

/** Asks an agent over REST. The server keeps the conversation, so only the last question is sent. */
export function sendRest(input: RunAgentInput, options: SendOptions): Sent {
  const { base, agentId } = options;
  const { message, files } = lastQuestion(input.messages);
  const body = {
    message,
    session_id: input.threadId,
    ...(files.length > 0 && { files }),
  };
  const request: SentRequest = {
    method: "POST",
    url: new URL(`agent/${encodeURIComponent(agentId)}/chat/stream`, base).href,
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify(body),
  };
  return send({ wire: "rest", input, request, decode: decodeRest, ...options });
}

function lastQuestion(messages: readonly Message[]): { message: string; files: Json[] } {
  const last = messages.findLast(({ role }) => role === "user");
  if (last?.role !== "user") return { message: "", files: [] };
  if (typeof last.content === "string") return { message: last.content, files: [] };
  const texts = last.content.flatMap((part) => (part.type === "text" ? part.text : []));
  const files = last.content.flatMap((part): Json[] => {
    if (part.type === "text" || part.source.type !== "data") return [];
    const { value, mimeType } = part.source;
    return [{ content: value, mime_type: mimeType, filename: part.metadata?.filename ?? null }];
  });
  // REST requires text with every file.
  return { message: texts.join("\n").trim() || "What is in this file?", files };
}

async function* decodeRest(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Decoded> {
  const toEvents = createRestMapper();
  for await (const { bytes, event, data } of sseFrames(chunks)) {
    const payload = parseRecord(data);
    yield { bytes, events: payload && event ? toEvents(event, payload) : [] };
  }
}

/** Translates REST's events to AG-UI. */
function createRestMapper(): (name: string, data: Json) => BaseEvent[] {
  let threadId = "";
  let runId = "";
  let parts = 0;
  let openText: string | undefined;
  const open = new Set<string>();

  function closeText(): BaseEvent[] {
    if (openText === undefined) return [];
    const messageId = openText;
    openText = undefined;
    return [{ type: EventType.TEXT_MESSAGE_END, messageId }];
  }

  function toTextEvents(delta: unknown): BaseEvent[] {
    if (openText !== undefined) {
      return [{ type: EventType.TEXT_MESSAGE_CONTENT, messageId: openText, delta }];
    }
    // REST does not separate messages; text after a tool call is shown as another one.
    openText = `${runId}:${parts++}`;
    const messageId = openText;
    return [
      { type: EventType.TEXT_MESSAGE_START, messageId, role: "assistant" },
      { type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta },
    ];
  }

  function endCall(toolCallId: string, status: unknown): BaseEvent[] {
    if (!open.delete(toolCallId)) return [];
    const isFailure = status === "error";
    // REST sends only whether a call failed.
    const content = isFailure ? "It failed." : "REST sends neither tool results nor approvals.";
    return [
      { type: EventType.TOOL_CALL_END, toolCallId },
      {
        type: EventType.TOOL_CALL_RESULT,
        messageId: `${toolCallId}:result`,
        toolCallId,
        role: "tool",
        content,
        ...(isFailure && { metadata: { error: content } }),
      },
    ];
  }

  function finish(data: Json): BaseEvent[] {
    const { suggested_questions: questions } = data;
    const tokens = isRecord(data.tokens_used) ? data.tokens_used : undefined;
    const usage = tokens && [
      {
        inputTokens: tokens.prompt_tokens,
        outputTokens: tokens.completion_tokens,
        totalTokens: tokens.total_tokens,
      },
    ];
    const suggested = { type: EventType.CUSTOM, name: "suggested_questions", value: questions };
    return [
      ...closeText(),
      ...(Array.isArray(questions) ? [suggested] : []),
      { type: EventType.RUN_FINISHED, threadId, runId, ...(usage && { usage }) },
    ];
  }

  return (name, data) => {
    const toolCallId = asText(data.tool_call_id) ?? "";
    switch (name) {
      case "stream_start":
        threadId = asText(data.session_id) ?? "";
        runId = asText(data.message_id) ?? "";
        return [{ type: EventType.RUN_STARTED, threadId, runId }];
      case "message_delta":
        return toTextEvents(data.delta);
      case "tool_call_start":
        open.add(toolCallId);
        return [
          ...closeText(),
          { type: EventType.TOOL_CALL_START, toolCallId, toolCallName: data.name },
        ];
      case "tool_call_args":
        return [{ type: EventType.TOOL_CALL_ARGS, toolCallId, delta: data.args_delta }];
      case "tool_call_end":
        return endCall(toolCallId, data.status);
      case "stream_end":
        return finish(data);
      case "error": {
        const message = asText(data.detail) ?? asText(data.title) ?? "It failed.";
        return [...closeText(), { type: EventType.RUN_ERROR, message, code: data.code }];
      }
      default:
        return [];
    }
  };
}
