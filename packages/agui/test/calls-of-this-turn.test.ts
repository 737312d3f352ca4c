import { isAgentError } from "@holodeck/agui-core";
import type { Message, Pending } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { createAgentHandler, memorySessions } from "../src/index.ts";
import { eventsOf, memoryLogger, post } from "./_helpers.ts";
import { toMessages } from "./_message-notation.ts";

const key = { principal: "", threadId: "t" };
const tool = (name: string): object => ({ name, description: "", parameters: { type: "object" } });

interface Scene {
  /** What the client sends, in the notation of `toMessages`, or as messages. */
  readonly sends: string | readonly Message[];
  /** The calls that the agent makes one after the other. */
  readonly calls: readonly [name: string, args?: unknown][];
}

/** What the calls returned or threw, and the names of those that were sent to the client. */
async function play({ sends, calls }: Scene): Promise<{ got: unknown[]; sent: string[] }> {
  const messages = typeof sends === "string" ? toMessages(sends) : sends;
  const made = messages.flatMap((one) => (one.role === "assistant" ? (one.toolCalls ?? []) : []));
  const sessions = memorySessions();
  await sessions.create(key, { agentId: "default" });
  await sessions.update(key, {
    messages: messages.filter(({ role }) => role !== "tool"),
    lastRunId: "r0",
    pending: made.map(({ id }): Pending => ({ id, kind: "tool", runId: "r0", value: {} })),
  });
  const got: unknown[] = [];
  const handler = createAgentHandler(
    async (_input, { callTool }) => {
      for (const [name, args] of calls) {
        try {
          got.push(await callTool(name, args));
        } catch (error) {
          if (!isAgentError(error) || error.code === "halted") throw error;
          got.push(`${error.code}: ${error.message}`);
        }
      }
    },
    { sessions, logger: memoryLogger() },
  );
  const tools = [tool("look"), tool("see")];
  const events = await eventsOf(
    await handler.fetch(
      post({ threadId: "t", runId: "r1", protocolVersion: "1.0", messages, tools }),
    ),
  );
  const sent = events.flatMap((event) =>
    event.type === "TOOL_CALL_START" ? [String(event.toolCallName)] : [],
  );
  return { got, sent };
}

const answered = (content: string): string => `u1 a1[c1=look/1] r1>c1:${content}`;
const again: readonly [string, unknown][] = [["look", { n: 1 }]];

describe("a call whose result the client brings returns", () => {
  test.for<[string, unknown]>([
    ["42", 42],
    ["text", "text"],
    ["null", null],
    ['{"a":1}', { a: 1 }],
    ['{"error":"late"}', { error: "late" }],
    ['{"error":{"code":7,"message":"m"}}', { error: { code: 7, message: "m" } }],
    ['{"error":{"code":"x"}}', { error: { code: "x" } }],
    ['{"error":{"code":"x","message":"m"},"a":1}', { error: { code: "x", message: "m" }, a: 1 }],
    ['{"error":{"code":"x","message":"m"}}', "x: m"],
  ])("%s as %j", async ([content, expected]) => {
    expect(await play({ sends: answered(content), calls: again })).toEqual({
      got: [expected],
      sent: [],
    });
  });

  test("the reason why it failed", async () => {
    const sends = toMessages(answered("42")).map((one) =>
      one.role === "tool" ? { ...one, error: "The user is away." } : one,
    );
    expect((await play({ sends, calls: again })).got).toEqual(["tool-error: The user is away."]);
  });

  test("parts as they are", async () => {
    const parts = [{ type: "text" as const, text: "42" }];
    const sends = toMessages(answered("42")).map((one) =>
      one.role === "tool" ? { ...one, content: parts } : one,
    );
    expect((await play({ sends, calls: again })).got).toEqual([parts]);
  });
});

describe("a call is the one that was made when", () => {
  test.for<[string, Scene, unknown[]]>([
    ["it has no arguments", { sends: "u1 a1[c1=look] r1>c1:42", calls: [["look"]] }, [42]],
    ["it had an empty text", { sends: "u1 a1[c1=look!] r1>c1:42", calls: [["look", {}]] }, [42]],
    [
      "both were made, in their order",
      {
        sends: "u1 a1[c1=look/1,c2=look/1] r1>c1:1 r2>c2:2",
        calls: [
          ["look", { n: 1 }],
          ["look", { n: 1 }],
        ],
      },
      [1, 2],
    ],
    [
      "another was made before it",
      { sends: "u1 a1[c1=see/1] r1>c1:1 a2[c2=look/1] r2>c2:2", calls: again },
      [2],
    ],
  ])("%s", async ([, scene, got]) => {
    expect(await play(scene)).toEqual({ got, sent: [] });
  });
});

describe("a call is made again when", () => {
  test.for<[string, Scene, unknown[], string]>([
    ["it has another name", { sends: answered("42"), calls: [["see", { n: 1 }]] }, [], "see"],
    ["it has other arguments", { sends: answered("42"), calls: [["look", { n: 2 }]] }, [], "look"],
    [
      "its result was used",
      {
        sends: answered("42"),
        calls: [
          ["look", { n: 1 }],
          ["look", { n: 1 }],
        ],
      },
      [42],
      "look",
    ],
    ["the turn has ended", { sends: `${answered("42")} a2`, calls: again }, [], "look"],
    [
      "it belongs to an earlier turn",
      { sends: `${answered("42")} u2 a2[c2=see] r2>c2:7`, calls: again },
      [],
      "look",
    ],
    ["it has no result", { sends: "u1 a1[c1=look/1,c2=see] r2>c2:7", calls: again }, [], "look"],
  ])("%s", async ([, scene, got, sent]) => {
    expect(await play(scene)).toEqual({ got, sent: [sent] });
  });
});
