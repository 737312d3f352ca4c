import type { RunAgentInput } from "@ag-ui/core";
import type { SentRequest } from "../model.ts";
import type { Decoded, Sent } from "./exchange.ts";
import { send } from "./exchange.ts";
import { parseRecord } from "./json.ts";
import { sseFrames } from "./sse-frames.ts";
import type { SendOptions } from "./types.ts";
import { toUiMessages } from "./ui-messages.ts";
import { createUiMapper } from "./ui-mapper.ts";

/** Runs an agent over the AI SDK's UI message stream, as `useChat` of version 6 does. */
export function sendVercel(input: RunAgentInput, options: SendOptions): Sent {
  const { base, agentId } = options;
  const { threadId, tools, context, state, resume } = input;
  const body = {
    id: threadId,
    messages: toUiMessages(input.messages),
    trigger: "submit-message",
    // What follows is the body that a transport of `useChat` may add.
    agentId,
    tools,
    context,
    state,
    ...(resume && { resume }),
  };
  const request: SentRequest = {
    method: "POST",
    url: new URL("api/chat?sdkVersion=6", base).href,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  const decode = (chunks: AsyncIterable<Uint8Array>): AsyncIterable<Decoded> =>
    decodeUi(chunks, threadId);
  return send({ wire: "vercel", input, request, decode, ...options });
}

async function* decodeUi(
  chunks: AsyncIterable<Uint8Array>,
  threadId: string,
): AsyncGenerator<Decoded> {
  const toEvents = createUiMapper(threadId);
  for await (const { bytes, data } of sseFrames(chunks)) {
    const chunk = parseRecord(data);
    yield { bytes, events: chunk ? toEvents(chunk) : [] };
  }
}
