import { createAgentHandler } from "@holodeck/agui";
import type { AgentEvent, Message, Protocol, RunAgentInput } from "@holodeck/agui";
import { readSse } from "@holodeck/agui-testing";
import { expect, test } from "vitest";
import { createToolLoopAgent, defineTool } from "../src/index.ts";

/** A protocol whose clients answer their tools while the run goes on. */
const inline: Protocol = {
  name: "inline",
  history: "server",
  routes: (host) => [
    {
      method: "POST",
      path: "/ask",
      body: "json",
      async handle(call) {
        const input = { messages: [], context: [], state: {}, ...(call.body as object) } as never;
        const run = await host.start(call, { input, clientTools: "inline" });
        const encode = ({ event }: { event: unknown }) => `data: ${JSON.stringify(event)}\n\n`;
        return run.stream({ contentType: "text/event-stream", encode }, "start");
      },
    },
    {
      method: "POST",
      path: "/answer",
      body: "json",
      async handle(call) {
        const { runId, ...answer } = call.body as { runId: string; toolCallId: string };
        await host.send(call, { runId }, { type: "tool-result", ...answer });
        return { status: 204 };
      },
    },
  ],
};

const call = (id: string, name: string, args: string): AgentEvent[] => [
  { type: "TOOL_CALL_START", toolCallId: id, toolCallName: name },
  { type: "TOOL_CALL_ARGS", toolCallId: id, delta: args },
  { type: "TOOL_CALL_END", toolCallId: id },
];

test("the tool loop waits for the client where the protocol lets it, and goes on in the same run", async () => {
  const asked: RunAgentInput[] = [];
  const clock = defineTool({
    name: "clock",
    description: "What time it is now.",
    execute: () => "noon",
  });
  const agent = createToolLoopAgent({
    tools: [clock],
    generate: async function* (input) {
      asked.push(input);
      if (asked.length > 1) return yield "You took it.";
      yield "Look: ";
      yield* call("a", "pick", '{"from":[1]}');
      yield* call("b", "clock", "{}");
    },
  });
  const { fetch } = createAgentHandler(agent, {
    protocols: [inline],
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  const post = (path: string, body: object) =>
    fetch(
      new Request(`http://test.local${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
  const tools = [{ name: "pick", description: "Picks.", parameters: { type: "object" } }];
  const response = await post("/ask", { threadId: "t", runId: "r", tools });
  const events: any[] = [];
  let picked: any;
  for await (const { data } of readSse(response)) {
    const event = JSON.parse(data);
    events.push(event);
    if (event.toolCallName === "pick") picked = event;
    if (event.type !== "TOOL_CALL_END" || event.toolCallId !== picked?.toolCallId) continue;
    const answer = { runId: "r", toolCallId: event.toolCallId, result: "red" };
    expect((await post("/answer", answer)).status).toBe(204);
  }
  const end = events.at(-1);
  expect([end.type, end.outcome]).toEqual(["RUN_FINISHED", undefined]);
  const starts = events.filter(({ type }) => type === "TOOL_CALL_START");
  expect(new Set(starts.map(({ toolCallName }) => toolCallName))).toEqual(
    new Set(["clock", "pick"]),
  );
  // All of one step is one message, with an answer to each of its calls.
  expect(new Set(starts.map(({ parentMessageId }) => parentMessageId)).size).toBe(1);
  const [said, ...results] = asked[1]!.messages as [any, ...Message[]];
  expect(said).toMatchObject({ role: "assistant", content: "Look: " });
  expect(said.toolCalls.map((made: any) => made.function.name)).toEqual(["clock", "pick"]);
  expect(said.toolCalls[1].id).toBe(picked.toolCallId);
  expect(results.map(({ content }) => content)).toEqual(["noon", "red"]);
});
