import type { AgentFunction, Message } from "@holodeck/agui";
import { runInput } from "@holodeck/agui-testing";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFold } from "../page/chat/state/fold.ts";
import { wires } from "../page/client/wires.ts";
import type { Wire } from "../page/model.ts";
import { startServer } from "./_server.ts";
import type { TestServer } from "./_server.ts";

type Line =
  | { kind: "text" | "reasoning"; text: string }
  | { kind: "tool"; name: string; args: Record<string, unknown>; result: string }
  | { kind: "state"; value: Record<string, unknown> }
  | { kind: "activity"; title: string };

let server: TestServer;
let script: readonly Line[] = [];

const scripted: AgentFunction = async (_input, { emit, state }) => {
  for (const line of script) {
    if (line.kind === "tool") {
      await emit.toolResult(emit.toolCall(line.name, line.args), line.result);
    } else if (line.kind === "state") await state.set(line.value);
    else if (line.kind === "activity") emit.activity("work", { title: line.title });
    else if (line.kind === "text") await emit.text(line.text);
    else await emit.reasoning(line.text);
  }
};

beforeAll(async () => {
  server = await startServer(scripted);
});
afterAll(() => server.close());

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
const values = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.oneof(text, fc.integer()));
const line: fc.Arbitrary<Line> = fc.oneof(
  fc.record({ kind: fc.constantFrom("text" as const, "reasoning" as const), text }),
  fc.record({
    kind: fc.constant("tool" as const),
    name: fc.constantFrom("look", "search"),
    args: values,
    result: text,
  }),
  fc.record({ kind: fc.constant("state" as const), value: values }),
  fc.record({ kind: fc.constant("activity" as const), title: text }),
);

test("every wire carries the same conversation, as far as its format allows", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 8 }), async (lines) => {
      script = lines;
      const told = await hear("agui-sse");
      expect(await hear("agui-proto")).toEqual(told);
      expect(await hear("vercel")).toEqual(told);
      const isTold = (one: string): boolean => /^(?:text|call)/.test(one);
      expect((await hear("rest")).said.filter(isTold).join()).toBe(told.said.filter(isTold).join());
    }),
    { numRuns: 25 },
  );
});

async function hear(wire: Wire): Promise<{ said: string[]; state: unknown }> {
  const input = runInput({
    threadId: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    runId: crypto.randomUUID(),
    protocolVersion: "1.0",
    messages: [{ id: "q", role: "user", content: "Go" }],
  });
  const fold = createFold([], { value: undefined, changed: [] });
  const sent = wires[wire](input, { base: server.base, agentId: "default" });
  for await (const { events } of sent.frames) events.forEach(fold.apply);
  expect(sent.exchange.error.value).toBeUndefined();
  const { messages, state } = fold.read();
  return { said: summarise(messages), state: state.value };
}

/** What is said, whatever the ids. Text that a wire does not keep apart is put together. */
function summarise(messages: readonly Message[]): string[] {
  const lines: string[] = [];
  for (const message of messages) {
    if (message.role === "reasoning") lines.push(`reasoning ${message.content}`);
    if (message.role === "activity") lines.push(`activity ${JSON.stringify(message.content)}`);
    if (message.role === "tool") lines.push(`result ${JSON.stringify(message.content)}`);
    if (message.role !== "assistant") continue;
    if (message.content) lines.push(`text ${message.content}`);
    for (const call of message.toolCalls ?? []) {
      lines.push(`call ${call.function.name} ${call.function.arguments}`);
    }
  }
  return lines;
}
