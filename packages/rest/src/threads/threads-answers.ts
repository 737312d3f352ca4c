import type { z as zod, ZodType } from "zod";

/** What clients get, as schemas. */
export interface AnswerSchemas {
  readonly chatResponse: ZodType;
  readonly event: ZodType;
  readonly thread: ZodType;
  readonly threadList: ZodType;
  readonly aborted: ZodType;
  readonly received: ZodType;
}

/** Makes the schemas of the answers. */
export function createAnswerSchemas(z: typeof zod): AnswerSchemas {
  const time = z
    .string()
    .regex(/^\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    .meta({ format: "date-time" });
  const record = z.record(z.string(), z.unknown());
  const ms = z.number().nonnegative();
  const toolCall = z.object({
    id: z.string(),
    tool_name: z.string(),
    arguments: record,
    result: z.unknown(),
    error: z.string().nullable(),
    execution_time_ms: ms.nullable(),
  });
  const message = z.object({
    id: z.string(),
    role: z.enum(["user", "assistant", "system", "tool"]),
    content: z.string(),
    timestamp: time,
    tool_calls: z.array(toolCall).nullable(),
    tool_call_id: z.string().optional(),
    metadata: record,
  });
  const count = z.number().int().nonnegative();
  const tokens = z
    .object({ prompt_tokens: count, completion_tokens: count, total_tokens: count })
    .nullable();
  const summary = z.object({
    thread_id: z.string(),
    status: z.enum(["created", "active"]),
    created_at: time,
    updated_at: time,
    message_count: count,
    token_estimate: count,
    metadata: record,
  });
  const base = { thread_id: z.string(), timestamp: time };
  const event = z.discriminatedUnion("event", [
    z.object({ event: z.literal("token"), ...base, token: z.string(), message_id: z.string() }),
    z.object({
      event: z.literal("tool_start"),
      ...base,
      tool_call_id: z.string(),
      tool_name: z.string(),
      arguments: record,
    }),
    z.object({
      event: z.literal("tool_end"),
      ...base,
      tool_call_id: z.string(),
      tool_name: z.string(),
      result: z.unknown(),
      error: z.string().optional(),
      execution_time_ms: ms,
    }),
    z.object({
      event: z.literal("tool_execution_request"),
      ...base,
      execution_id: z.string(),
      tool_name: z.string(),
      arguments: record,
    }),
    z.object({
      event: z.literal("tool_execution_complete"),
      ...base,
      execution_id: z.string(),
      error: z.string().optional(),
    }),
    z.object({ event: z.literal("message_complete"), ...base, message, tokens_used: tokens }),
    z.object({
      event: z.literal("error"),
      ...base,
      error_type: z.enum([
        "validation",
        "timeout",
        "llm",
        "tool",
        "capacity",
        "cancelled",
        "internal",
      ]),
      error_message: z.string(),
      recoverable: z.boolean(),
      code: z.string(),
    }),
  ]);
  return {
    event,
    thread: summary.extend({ message_history: z.array(message) }),
    threadList: z.object({ threads: z.array(summary), next_cursor: z.string().nullable() }),
    chatResponse: z.object({
      thread_id: z.string(),
      message_id: z.string(),
      content: z.string(),
      message,
      tool_calls: z.array(toolCall),
      tokens_used: tokens,
      execution_time_ms: count,
    }),
    aborted: z.object({ thread_id: z.string(), aborted: z.boolean() }),
    received: z.object({ status: z.literal("received"), execution_id: z.string() }),
  };
}
