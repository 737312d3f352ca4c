import { isOpaqueId } from "@holodeck/agui-core";
import { asText, isRecord } from "@holodeck/agui-core/internal";
import type { Call, Json, Limits, RunAgentInput } from "@holodeck/agui-core";
import { readObjectBody, readModel } from "../shared/body.ts";
import { invalidParam } from "../shared/errors.ts";
import { toContext } from "../shared/instructions.ts";
import type { InstructionsTarget } from "../shared/instructions.ts";
import { readTools } from "../shared/tools.ts";
import { readChatMessages } from "./read-chat-messages.ts";

/** A request for a chat completion, understood. */
export interface CompletionRequest extends Pick<
  RunAgentInput,
  "messages" | "tools" | "context" | "forwardedProps"
> {
  /** The agent. Absent: the default one. */
  readonly model: string | undefined;
  readonly isStream: boolean;
  readonly includeUsage: boolean;
  /** The thread that the client named. Absent: nothing is kept. */
  readonly threadId: string | undefined;
}

/** Reads the body of `POST /chat/completions`. What an agent has no use for is passed on in `forwardedProps`. */
export function readCompletionRequest(
  call: Call,
  { limits, instructions: target }: { limits: Limits; instructions: InstructionsTarget },
): CompletionRequest {
  const body = readObjectBody(call.body);
  const {
    model,
    messages: sent,
    tools: offered,
    stream,
    stream_options: streamOptions,
    n,
    ...rest
  } = body;
  if (n !== undefined && n !== null && n !== 1) {
    throw invalidParam("n", "must be 1: an agent gives one answer.");
  }
  const { tools, others } = readTools(offered);
  const { messages, instructions } = readChatMessages(sent, limits, target);
  return {
    model: readModel(model),
    isStream: stream === true,
    includeUsage: isRecord(streamOptions) && streamOptions.include_usage === true,
    threadId: threadOf(call, body),
    messages,
    tools,
    context: toContext(instructions),
    forwardedProps: others.length > 0 ? { ...rest, tools: others } : rest,
  };
}

// A body that names a thread is more specific than a header that a client sets once for all its requests.
function threadOf(call: Call, { metadata }: Json): string | undefined {
  const named = isRecord(metadata) ? metadata.thread_id : undefined;
  const threadId = named ?? call.header("x-thread-id");
  if (threadId === undefined || threadId === null || threadId === "") return undefined;
  if (isOpaqueId(threadId)) return asText(threadId);
  throw invalidParam("metadata.thread_id", "must be 1 to 256 visible characters.");
}
