import type { Json } from "@holodeck/agui-core";
import { toErrorCode } from "../shared/errors.ts";
import type { AnswerEnd } from "../shared/answer-reader.ts";
import { toSeconds } from "../shared/wire.ts";
import type { TotalUsage } from "../shared/usage.ts";

type ResponseStatus = "in_progress" | "completed" | "failed" | "cancelled";

/** A response as far as its run has come. */
export interface ResponseState {
  readonly id: string;
  readonly createdAt: number;
  readonly endedAt: number | undefined;
  readonly output: readonly Json[];
  readonly end: AnswerEnd | undefined;
  readonly echo: Json;
}

// What a request may leave out, as OpenAI and Open Responses send it back.
const defaults: Json = {
  background: false,
  conversation: null,
  frequency_penalty: 0,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: null,
  safety_identifier: null,
  service_tier: "default",
  store: true,
  temperature: 1,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: "disabled",
};

/** The names of the members that repeat the request. */
export const echoed: readonly string[] = Object.keys(defaults);

export function toResponse(state: ResponseState): Json {
  const { end } = state;
  const status = statusOf(end);
  return {
    id: state.id,
    object: "response",
    created_at: toSeconds(state.createdAt),
    completed_at:
      status === "completed" && state.endedAt !== undefined ? toSeconds(state.endedAt) : null,
    status,
    error:
      end?.type === "failed"
        ? { code: toErrorCode(end.code) ?? "server_error", message: end.message }
        : null,
    incomplete_details: status === "cancelled" ? { reason: "cancelled" } : null,
    model: "",
    ...defaults,
    ...state.echo,
    output: state.output,
    usage: end?.usage ? toUsage(end.usage) : null,
  };
}

function statusOf(end: AnswerEnd | undefined): ResponseStatus {
  if (!end) return "in_progress";
  if (end.type === "failed" || end.type === "cancelled") return end.type;
  return "completed";
}

function toUsage({ input, output, total, cached, reasoning }: TotalUsage): Json {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: total,
  };
}
