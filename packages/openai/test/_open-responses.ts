import type { AgentFunction } from "@holodeck/agui-core";
import * as z from "zod";

/** The version of the Open Responses specification whose rules these are, in words of our own. */
export const openResponsesVersion = "2026-04-24";

const count = z.int().min(0);
const itemStatus = z.enum(["in_progress", "completed", "incomplete"]);
const outputText = z.object({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(z.unknown()),
  logprobs: z.array(z.unknown()).optional(),
});
const summaryText = z.object({ type: z.literal("summary_text"), text: z.string() });

const item = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("message"),
    id: z.string().min(1),
    status: itemStatus,
    role: z.enum(["user", "assistant", "system", "developer"]),
    content: z.array(outputText),
  }),
  z.object({
    type: z.literal("function_call"),
    id: z.string().min(1),
    call_id: z.string().min(1).max(64),
    name: z.string().regex(/^[\w-]{1,64}$/),
    arguments: z.string(),
    status: itemStatus,
  }),
  z.object({ type: z.literal("reasoning"), id: z.string().min(1), summary: z.array(summaryText) }),
]);

/** The response object: every member is required, null where the schema allows it and nothing else. */
const responseResource = z.object({
  id: z.string().min(1),
  object: z.literal("response"),
  created_at: count,
  completed_at: count.nullable(),
  status: z.string(),
  incomplete_details: z.object({ reason: z.string() }).nullable(),
  model: z.string(),
  previous_response_id: z.string().nullable(),
  instructions: z.string().nullable(),
  output: z.array(item),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  tools: z.array(
    z.object({
      type: z.literal("function"),
      name: z.string(),
      description: z.string().nullable(),
      parameters: z.record(z.string(), z.unknown()).nullable(),
      strict: z.boolean().nullable(),
    }),
  ),
  tool_choice: z.union([z.enum(["none", "auto", "required"]), z.looseObject({ type: z.string() })]),
  truncation: z.enum(["auto", "disabled"]),
  parallel_tool_calls: z.boolean(),
  text: z.object({ format: z.looseObject({ type: z.string() }) }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: count,
  temperature: z.number(),
  reasoning: z.looseObject({}).nullable(),
  usage: z
    .object({
      input_tokens: count,
      output_tokens: count,
      total_tokens: count,
      input_tokens_details: z.object({ cached_tokens: count }),
      output_tokens_details: z.object({ reasoning_tokens: count }),
    })
    .nullable(),
  max_output_tokens: count.nullable(),
  max_tool_calls: count.nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: z.string(),
  metadata: z.unknown(),
  safety_identifier: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
});

const numbered = { sequence_number: count };
const inItem = { ...numbered, item_id: z.string().min(1), output_index: count };
const inContent = { ...inItem, content_index: count };
const inSummary = { ...inItem, summary_index: count };

const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ type: z.literal(type), ...shape });

/** Every event of a stream; one of another type is an error. */
const streamingEvent = z.discriminatedUnion("type", [
  event("response.created", { ...numbered, response: responseResource }),
  event("response.queued", { ...numbered, response: responseResource }),
  event("response.in_progress", { ...numbered, response: responseResource }),
  event("response.completed", { ...numbered, response: responseResource }),
  event("response.failed", { ...numbered, response: responseResource }),
  event("response.incomplete", { ...numbered, response: responseResource }),
  event("response.output_item.added", { ...numbered, output_index: count, item }),
  event("response.output_item.done", { ...numbered, output_index: count, item }),
  event("response.content_part.added", { ...inContent, part: outputText }),
  event("response.content_part.done", { ...inContent, part: outputText }),
  event("response.output_text.delta", { ...inContent, delta: z.string() }),
  event("response.output_text.done", { ...inContent, text: z.string() }),
  event("response.function_call_arguments.delta", { ...inItem, delta: z.string() }),
  event("response.function_call_arguments.done", { ...inItem, arguments: z.string() }),
  event("response.reasoning_summary_part.added", { ...inSummary, part: summaryText }),
  event("response.reasoning_summary_part.done", { ...inSummary, part: summaryText }),
  event("response.reasoning_summary_text.delta", { ...inSummary, delta: z.string() }),
  event("response.reasoning_summary_text.done", { ...inSummary, text: z.string() }),
]);

/** What the checks look at in a response. */
export interface ValidResponse {
  readonly id: string;
  readonly status: string;
  readonly previous_response_id: string | null;
  readonly output: readonly { readonly type: string }[];
}

/** What they look at in an event. */
export interface ValidEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly item?: { readonly type: string };
  readonly response?: ValidResponse;
}

/** Throws with all faults when a response does not follow the rules. */
export function parseResponse(value: unknown): ValidResponse {
  return responseResource.parse(value);
}

/** Throws with all faults when an event does not follow the rules. */
export function parseEvent(value: unknown): ValidEvent {
  return streamingEvent.parse(value);
}

/** Answers what the suite asks: calls `get_weather` where it is offered, and knows the user's name. */
export const compliantAgent: AgentFunction = async function* ({ messages, tools }, { emit }) {
  const last = messages.at(-1);
  await emit.reasoning("One moment.");
  if (tools.some(({ name }) => name === "get_weather") && last?.role !== "tool") {
    emit.toolCall("get_weather", { location: "San Francisco, CA" });
    return;
  }
  const words = messages.flatMap(({ content }) => (typeof content === "string" ? content : []));
  const name = words.map((text) => /name is (\w+)/.exec(text)?.[1]).find(Boolean);
  yield name ? `Your name is ${name}.` : "Hello to you.";
  emit.usage({ inputTokens: 3, outputTokens: 4 });
};
