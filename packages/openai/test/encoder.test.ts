import { createAgentHandler } from "@holodeck/agui";
import { readSse } from "@holodeck/agui-testing";
import { testEncoder, testProtocol } from "@holodeck/agui-testing/vitest";
import type { ProtocolFrame } from "@holodeck/agui-testing/vitest";
import { chatStreamEncoder, openai, responseEncoder } from "../src/index.ts";
import { user } from "./_kit.ts";

const notShown = [
  "TEXT_MESSAGE_START",
  "TEXT_MESSAGE_END",
  "TOOL_CALL_RESULT",
  "STEP_STARTED",
  "STEP_FINISHED",
  "STATE_SNAPSHOT",
  "STATE_DELTA",
  "ACTIVITY_SNAPSHOT",
  "ACTIVITY_DELTA",
  "RAW",
  "CUSTOM",
  "REASONING_START",
  "REASONING_MESSAGE_START",
  "REASONING_MESSAGE_END",
  "REASONING_ENCRYPTED_VALUE",
  "REASONING_END",
  "SUBAGENT_STARTED",
  "SUBAGENT_FINISHED",
  "SUBAGENT_ERROR",
  // A log holds none of these; they are expanded before.
  "TEXT_MESSAGE_CHUNK",
  "TOOL_CALL_CHUNK",
  "REASONING_MESSAGE_CHUNK",
] as const;

function parse(chunk: unknown): void {
  const frames = String(chunk).split("\n\n");
  if (frames.pop() !== "") throw new SyntaxError("The last frame has no end.");
  for (const frame of frames) {
    if (!frame.startsWith("data: ") || frame.includes("\n")) {
      throw new SyntaxError(`Not a frame: ${frame}`);
    }
    JSON.parse(frame.slice("data: ".length));
  }
}

testEncoder(
  "chat completions, with the tool of the client",
  () => chatStreamEncoder({ model: "m", clientTools: new Set(["weather"]), includeUsage: true }),
  { dropped: notShown, parse },
);

testEncoder(
  "chat completions, with the tool of the server",
  () => chatStreamEncoder({ model: "m" }),
  {
    dropped: [...notShown, "TOOL_CALL_START", "TOOL_CALL_ARGS"],
    parse,
  },
);

testProtocol("chat completions", {
  createHandler: (agent, options) =>
    createAgentHandler(agent, { ...options, protocols: [openai()] }),
  start: ({ threadId }) =>
    new Request("http://test.local/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", "x-thread-id": threadId },
      body: JSON.stringify({ messages: [user("Hi")], stream: true }),
    }),
  async *read(response): AsyncGenerator<ProtocolFrame> {
    for await (const { data } of readSse(response)) {
      if (data === "[DONE]") yield { data, ends: true };
      else {
        const chunk = JSON.parse(data) as object;
        yield { data: chunk, ends: "error" in chunk };
      }
    }
  },
});

// Between the frames of one entry there may be several; each has a line with its type.
function parseEvents(chunk: unknown): void {
  const frames = String(chunk).split("\n\n");
  if (frames.pop() !== "") throw new SyntaxError("The last frame has no end.");
  for (const frame of frames) {
    const [event, data, ...more] = frame.split("\n");
    if (!event?.startsWith("event: ") || !data?.startsWith("data: ") || more.length > 0) {
      throw new SyntaxError(`Not a frame: ${frame}`);
    }
    JSON.parse(data.slice("data: ".length));
  }
}

// The first event after the start of a run begins the response, whatever it is.
const begins = new Set<string>([
  "SUBAGENT_STARTED",
  "STEP_STARTED",
  "TEXT_MESSAGE_CHUNK",
  "TOOL_CALL_CHUNK",
  "REASONING_MESSAGE_CHUNK",
]);

testEncoder("responses", () => responseEncoder(), {
  dropped: [
    "RUN_STARTED",
    ...notShown.filter((kind) => !begins.has(kind) && !kind.endsWith("MESSAGE_END")),
    "TOOL_CALL_START",
    "TOOL_CALL_ARGS",
  ],
  parse: parseEvents,
});

testProtocol("responses", {
  createHandler: (agent, options) =>
    createAgentHandler(agent, { ...options, protocols: [openai()] }),
  start: ({ threadId }) =>
    new Request("http://test.local/v1/responses", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ input: "Hi", conversation: threadId, stream: true }),
    }),
  async *read(response): AsyncGenerator<ProtocolFrame> {
    for await (const { event, data } of readSse(response)) {
      if (data === "[DONE]") continue;
      const ends = ["response.completed", "response.failed", "response.incomplete"];
      yield { data: JSON.parse(data), ends: ends.includes(event ?? "") };
    }
  },
});
