import { describe, expect, test } from "vitest";
import { createAgentHandler, logging } from "../src/index.ts";
import type { AgentHandlerOptions, AgentLike, BaseEvent } from "../src/index.ts";
import { eventsOf, memoryLogger, post, say } from "./_helpers.ts";

/** The warnings of one run, and what its client received. */
async function serveOnce(
  agent: AgentLike,
  options: AgentHandlerOptions = {},
): Promise<{ warnings: unknown[]; events: BaseEvent[] }> {
  const logger = memoryLogger();
  const { fetch } = createAgentHandler(agent, { logger, ...options });
  const events = await eventsOf(await fetch(post({ runId: "r", messages: [say("hi")] })));
  const warnings = logger.records.filter(({ level }) => level === "warn");
  return { warnings, events };
}

const nothing = /returned nothing.*`return "text"`.*`yield "text"`.*`await emit\.text/;
const answer = { text: "Hello", content: "Hello" };
const silent: Readonly<Record<string, [AgentLike, RegExp]>> = {
  "a function that returns nothing": [async () => {}, nothing],
  "a function that is not async": [() => undefined as never, nothing],
  "a generator that yields nothing": [async function* () {}, nothing],
  "an object whose run returns nothing": [{ run: async () => {} }, nothing],
  "a function that returns { text }": [
    async () => ({ text: answer.text }),
    /object with "text".*`return answer\.text`/,
  ],
  "a function that returns { role, content }": [
    async () => ({ role: "assistant", content: answer.content }),
    /object with "content".*`return answer\.content`/,
  ],
  "a function that returns { content } of parts": [
    async () => ({ content: [{ type: "text", text: "Hello" }] }),
    /object with "content"/,
  ],
  "a generator that returns { text }": [
    async function* () {
      yield { type: "CUSTOM", name: "note", value: 1 };
      return { text: "Hello" };
    },
    /object with "text"/,
  ],
};

describe("an agent that shows nothing", () => {
  test.for(Object.entries(silent))(
    "is warned about, with what to write instead: %s",
    async ([, [agent, words]]) => {
      for (const middleware of [[], [logging({ level: "debug" })]]) {
        const { warnings, events } = await serveOnce(agent, { middleware });
        expect(warnings).toEqual([
          {
            level: "warn",
            runId: "r",
            threadId: expect.any(String),
            agentId: "default",
            message: expect.stringMatching(words),
          },
        ]);
        expect(events.at(-1)!.type).toBe("RUN_FINISHED");
      }
    },
  );

  test.for<[string, AgentLike]>([
    ["a text", async () => "Hello"],
    ["text, then { text } as a result", async (_input, { emit }) => (await emit.text("a"), answer)],
    ["a result that is no message", async () => ({ total: 5 })],
    ["only its state", async (_input, { state }) => void state.set({ a: 1 })],
    [
      "only a question",
      async (_input, { emit }) => void emit.interrupt({ reason: "confirmation" }),
    ],
    ["only a tool call", async (_input, { emit }) => void emit.toolCall("locate", {})],
    [
      "only an event",
      async function* () {
        yield { type: "CUSTOM", name: "a", value: 1 };
      },
    ],
  ])("is another than one that shows %s", async ([, agent]) => {
    expect((await serveOnce(agent)).warnings).toEqual([]);
  });

  test("is left alone in production, and where the handler's options turn advice off", async () => {
    const quiet = async (): Promise<void> => {};
    expect((await serveOnce(quiet, { development: false })).warnings).toEqual([]);
    const before = process.env.NODE_ENV;
    process.env.NODE_ENV = "production";
    try {
      const authenticate = (): { id: string } => ({ id: "ann" });
      expect((await serveOnce(quiet, { authenticate })).warnings).toEqual([]);
      expect((await serveOnce(quiet, { authenticate, development: true })).warnings).toHaveLength(
        1,
      );
    } finally {
      process.env.NODE_ENV = before;
    }
  });
});
