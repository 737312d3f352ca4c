import { ulid } from "@holodeck/agui-core";
import { idHeader } from "@holodeck/agui-core/internal";
import type { ActiveRun, Call, Reply } from "@holodeck/agui-core";
import type { Mounted } from "../options.ts";
import { originalOf } from "../shared/errors.ts";
import { clientToolsOf } from "../shared/tools.ts";
import { toSeconds } from "../shared/wire.ts";
import { ChatCompletion } from "./chat-completion.ts";
import { chatStreamEncoder } from "./chat-stream-encoder.ts";
import { readCompletionRequest } from "./read-completion.ts";
import type { CompletionRequest } from "./read-completion.ts";
import { addedTo } from "./thread-input.ts";

/** `POST {path}/chat/completions`: an answer as a stream or as one object. */
export async function completeChat(call: Call, mounted: Mounted): Promise<Reply> {
  const { host, instructions, serverTools } = mounted;
  const asked = readCompletionRequest(call, { limits: host.limits, instructions });
  const run = await start(call, asked, mounted);
  const { threadId, agentId } = run.record;
  // Not that of the run, with which it could be found elsewhere.
  const id = `chatcmpl-${ulid()}`;
  const model = asked.model ?? agentId;
  const canAnswer = asked.threadId !== undefined;
  const clientTools = clientToolsOf(asked.tools, host.serverTools(agentId));
  const reading = { clientTools, serverTools, canAnswer };
  const headers = canAnswer ? idHeader("x-thread-id", threadId) : {};
  if (asked.isStream) {
    const { includeUsage } = asked;
    return run.stream(chatStreamEncoder({ ...reading, id, model, includeUsage }), "start", headers);
  }
  const created = toSeconds(Date.now());
  const completion = new ChatCompletion(reading);
  const { error } = await run.collect(completion.read);
  if (error) throw originalOf(error);
  return {
    status: 200,
    headers: { "cache-control": "no-store", ...headers },
    body: completion.toJson({ id, model, created }),
  };
}

async function start(call: Call, asked: CompletionRequest, { host }: Mounted): Promise<ActiveRun> {
  const { model: agentId, tools, context, forwardedProps } = asked;
  const fixed = { runId: ulid(), tools, context, forwardedProps, state: {} };
  if (asked.threadId === undefined) {
    const input = { ...fixed, threadId: ulid(), messages: asked.messages };
    return host.start(call, { agentId, input, ephemeral: true });
  }
  const { threadId } = asked;
  const session = await host.sessions.get({ principal: call.principal?.id ?? "", threadId });
  return host.start(call, {
    agentId,
    input: { ...fixed, threadId, ...addedTo(session, asked.messages) },
    history: "server",
  });
}
