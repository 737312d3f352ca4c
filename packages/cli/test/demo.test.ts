import type { AgentEntry, AgentFunction } from "@holodeck/agui";
import { runAgent } from "@holodeck/agui-testing";
import type { MockSink, RunAgentOptions } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { createDemo, demoAgents, demoOptions } from "../src/demo/index.ts";

const { agents, options } = createDemo({ pace: 0 });
const tools = options.tools ?? [];
const agentOf = (id: string): AgentFunction => (agents[id] as AgentEntry).agent as AgentFunction;
const examples = (agents["demo"] as AgentEntry)["suggestions"] as string[];

function ask(message: string, more: RunAgentOptions = {}): Promise<MockSink> {
  return runAgent(agentOf("demo"), { message, tools, ...more });
}

function offer(...names: string[]): { name: string; description: string; parameters: object }[] {
  return names.map((name) => ({ name, description: `${name} of the page`, parameters: {} }));
}

test("has the same agents at a reader's pace", () => {
  expect(Object.keys(demoAgents)).toEqual(["demo", "sloppy", "echo"]);
  expect(demoOptions.tools?.map(({ name }) => name)).toEqual([
    "get_weather",
    "send_mail",
    "make_plan",
  ]);
});

test("refuses a pace that is none", () => {
  expect(() => createDemo({ pace: -1 })).toThrow("pace must be a number from 0 on");
  expect(() => createDemo({ pace: Number.NaN })).toThrow("not NaN");
});

test("shows something else for every question it suggests", async () => {
  const answers = await Promise.all(
    examples.map(async (example) => {
      const { events } = await ask(example, { clientTools: offer("pick_color", "get_location") });
      return events
        .map(({ type, delta, toolCallName }) => JSON.stringify([type, delta, toolCallName]))
        .join();
    }),
  );
  expect(examples.length).toBeGreaterThan(9);
  expect(new Set(answers).size).toBe(examples.length);
});

test("answers the same question with the same text", async () => {
  for (const example of ["Show me Markdown", "Plan a trip", "Tell me a long story"]) {
    const [one, other] = [await ask(example), await ask(example)];
    expect(one.text).not.toBe("");
    expect(one.text).toBe(other.text);
    expect(one.state).toEqual(other.state);
  }
});

test("writes Markdown of every kind, in many pieces", async () => {
  const { text, events } = await ask("Show me Markdown");
  for (const piece of ["## ", "\n1. ", "|---|---|", "```ts\n", "](https://", "> "]) {
    expect(text).toContain(piece);
  }
  expect(events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT").length).toBeGreaterThan(40);
});

test("thinks before it answers", async () => {
  const { reasoning, text, events } = await ask("Think about why the sky is blue");
  const types: string[] = events.map(({ type }) => type);
  expect(reasoning).toContain("short waves");
  expect(text).toContain("scatters");
  expect(types.indexOf("REASONING_MESSAGE_CONTENT")).toBeLessThan(
    types.indexOf("TEXT_MESSAGE_CONTENT"),
  );
});

test.each([
  ["What is the weather in New York?", "New York"],
  ["Weather in Paris, please", "Paris"],
  ["Will it rain?", "Berlin"],
])("finds the city: %s", async (question, city) => {
  const { toolCalls, text, state, events } = await ask(question);
  expect(toolCalls).toMatchObject([{ name: "get_weather", args: { city } }]);
  const result = JSON.parse(toolCalls[0]?.result as string) as { celsius: number };
  expect(text).toContain(`**${result.celsius} °C** in ${city}`);
  expect(state).toEqual({ weather: result });
  expect(events.filter(({ type }) => type === "TOOL_CALL_ARGS").length).toBeGreaterThan(2);
});

describe("a mail", () => {
  const question = "Send a mail to ada@example.com";

  async function answer(payload: object): Promise<MockSink> {
    const first = await ask(question);
    const interrupt = first.outcome?.type === "interrupt" ? first.outcome.interrupts[0] : undefined;
    expect(interrupt).toMatchObject({ reason: "tool_call", toolCallId: first.toolCalls[0]?.id });
    expect(first.toolCalls).toMatchObject([{ name: "send_mail", args: { to: "ada@example.com" } }]);
    expect(first.toolCalls[0]).not.toHaveProperty("result");
    const resume = [{ interruptId: interrupt?.id ?? "", status: "resolved" as const, payload }];
    return runAgent(agentOf("demo"), { after: first, tools, resume });
  }

  test("is sent when a person approves it, and no text is sent twice", async () => {
    const { text, events } = await answer({ approved: true });
    expect(text).toBe("The mail to ada@example.com is sent. (Not really: this is a demo.)");
    expect(events.map(({ type }) => type)).not.toContain("TOOL_CALL_START");
    expect(events.find(({ type }) => type === "TOOL_CALL_RESULT")).toMatchObject({
      content: JSON.stringify({ sent: true, to: "ada@example.com" }),
    });
  });

  test("is not sent when a person denies it, for a reason", async () => {
    const { text } = await answer({ approved: false, reason: "not today" });
    expect(text).toBe("I did not send the mail to ada@example.com. You said: not today");
  });
});

describe("a tool of the client's", () => {
  test("is asked for, and its answer goes into the state", async () => {
    const clientTools = offer("pick_color");
    const first = await ask("Let me pick a colour", { clientTools });
    const call = first.toolCalls[0];
    expect(call).toMatchObject({ name: "pick_color" });
    const answer = { id: "m", role: "tool" as const, toolCallId: call?.id ?? "", content: "teal" };
    const second = await runAgent(agentOf("demo"), {
      after: first,
      messages: [...first.messages, answer],
      clientTools,
      tools,
    });
    expect(second.text).toBe("**teal** it is. I have put it into the state.");
    expect(second.state).toEqual({ color: "teal" });
  });

  test.each([
    ["Let me pick a colour", "pick_color"],
    ["Where am I?", "get_location"],
  ])("is politely missed: %s", async (question, name) => {
    const { text, outcome, toolCalls } = await ask(question);
    expect(text).toContain(`I need the tool \`${name}\``);
    expect(outcome?.type).toBe("success");
    expect(toolCalls).toEqual([]);
  });
});

test("ticks off a plan in the state, step by step", async () => {
  const { state, steps, events, custom } = await ask("Plan a trip");
  expect(custom).toMatchObject([
    { name: "PredictState", value: [{ state_key: "plan", tool: "make_plan" }] },
  ]);
  expect(steps).toHaveLength(4);
  expect(state).toEqual({
    plan: { title: "A weekend away", steps: steps.map((title) => ({ title, status: "done" })) },
  });
  const deltas = events.filter(({ type }) => type === "STATE_DELTA");
  expect(deltas.map(({ delta }) => delta)).toContainEqual([
    { op: "replace", path: "/plan/steps/2/status", value: "running" },
  ]);
  expect(deltas).toHaveLength(8);
});

test("shows what it does besides talking", async () => {
  const { activities, steps, events } = await ask("Search the archive");
  expect(activities).toMatchObject([
    { type: "search", content: { title: "Searched 3 places", found: 3 } },
  ]);
  expect(steps).toEqual(["search"]);
  expect(events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(["ACTIVITY_DELTA", "SUBAGENT_STARTED", "SUBAGENT_FINISHED"]),
  );
});

test("fails on request, without a word about why", async () => {
  const { error, text, usage } = await ask("Fail with an error");
  expect(text).toBe("I try something that will not work. ");
  expect(error).toMatchObject({ code: "agent-error" });
  expect(error?.message).not.toContain("db.internal");
  expect(usage).toHaveLength(1);
});

test("stops a long story at once", async () => {
  const stop = new AbortController();
  const slow = (createDemo({ pace: 1000 }).agents["demo"] as AgentEntry).agent;
  const run = runAgent(slow, { message: "Tell me a long story", signal: stop.signal });
  setImmediate(() => stop.abort());
  const { outcome, text } = await run;
  expect(outcome).toMatchObject({ type: "cancelled" });
  expect(text.length).toBeLessThan(100);
});

test("reports what it has spent", async () => {
  const { usage } = await ask("Think about why the sky is blue");
  expect(usage).toMatchObject([{ model: "demo", inputTokens: 7 }]);
  expect(usage[0]!.outputTokens).toBeGreaterThan(usage[0]!.reasoningTokens!);
});

test("lists what it can do when nothing else was meant", async () => {
  const { text } = await ask("Lorem ipsum");
  expect(text).toContain("You said “Lorem ipsum”.");
  for (const example of examples.slice(0, -1)) expect(text).toContain(`- ${example}\n`);
});

test("repeats its input, to the letter", async () => {
  const message = "# *Hi*\n\n<img src=x onerror=alert(1)>\n\n  - a\t`b`  c";
  const { text } = await runAgent(agentOf("echo"), { message });
  expect(text).toBe(message);
});

test("is sloppy enough to be refused where nothing is repaired", async () => {
  const strict = await runAgent(agentOf("sloppy"), { message: "hi" });
  expect(strict.error).toMatchObject({ code: "protocol-violation" });
});
