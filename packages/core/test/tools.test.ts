import { runAgent } from "@holodeck/agui-testing";
import { describe, expect, test, vi } from "vitest";
import { EventType, isAgentError } from "../src/index.ts";
import type { AgentFunction, ServerTool } from "../src/index.ts";

const parameters = { type: "object" };
const offer = (name: string) => ({ name, description: "The client's.", parameters });
const weather: ServerTool = {
  name: "weather",
  description: "The server's.",
  parameters,
  invoke: () => ({ celsius: 18 }),
};

function recorder() {
  const warn = vi.fn();
  return { warn, logger: { warn, debug() {}, info() {}, error() {} } };
}

describe("tools the client offers", () => {
  test("reach the agent, run by run", async () => {
    const seen: string[][] = [];
    const agent: AgentFunction = async (input) =>
      void seen.push(input.tools.map(({ name }) => name));
    await runAgent(agent, { clientTools: [offer("confirm"), offer("paint")] });
    await runAgent(agent, { clientTools: [offer("paint")] });
    await runAgent(agent);
    expect(seen).toEqual([["confirm", "paint"], ["paint"], []]);
  });

  test("give way to a server tool of the same name, with a warning", async () => {
    const { logger, warn } = recorder();
    const { text } = await runAgent(
      async (input, { callTool }) => {
        const { celsius } = (await callTool("weather", {})) as { celsius: number };
        return `${input.tools.map(({ name }) => name).join()} ${celsius}`;
      },
      { tools: [weather], clientTools: [offer("weather"), offer("paint")], logger, runId: "r" },
    );
    expect(text).toBe("paint 18");
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      { runId: "r", tools: ["weather"] },
      expect.any(String),
    );
  });
});

describe("the result of a tool that failed", () => {
  test("is marked, so that no reader has to guess from its content", async () => {
    const broken: ServerTool = {
      ...weather,
      invoke: () => {
        throw new Error("postgres://user:password@db");
      },
    };
    const { events, messages } = await runAgent(
      async (_, { callTool }) => void (await callTool("weather", {}).catch(() => undefined)),
      { tools: [broken] },
    );
    const result = events.find(({ type }) => type === EventType.TOOL_CALL_RESULT);
    expect(result).toMatchObject({ metadata: { error: "tool-error" } });
    expect(JSON.parse(String(result?.["content"]))).toEqual({
      error: { code: "tool-error", message: 'The tool "weather" failed.' },
    });
    expect(messages.find(({ role }) => role === "tool")).toMatchObject({
      metadata: { error: "tool-error" },
    });
  });

  test("is not marked when it only speaks of an error", async () => {
    const { events } = await runAgent(
      async (_, { callTool }) => void (await callTool("weather", {})),
      { tools: [{ ...weather, invoke: () => ({ error: "none" }) }] },
    );
    const result = events.find(({ type }) => type === EventType.TOOL_CALL_RESULT);
    expect(result?.["metadata"]).toBeUndefined();
  });
});

describe("a server tool", () => {
  test("is sent to the client from its call to its result", async () => {
    const { events } = await runAgent(
      async (_, { callTool }) => void (await callTool("weather", { city: "Bern" })),
      { tools: [weather] },
    );
    expect(events).toMatchObject([
      { type: EventType.RUN_STARTED },
      { type: EventType.TOOL_CALL_START, toolCallName: "weather" },
      { type: EventType.TOOL_CALL_ARGS, delta: '{"city":"Bern"}' },
      { type: EventType.TOOL_CALL_END },
      { type: EventType.TOOL_CALL_RESULT, content: '{"celsius":18}', role: "tool" },
      { type: EventType.RUN_FINISHED },
    ]);
  });

  test("that fails answers the client without its reason, and the agent goes on", async () => {
    const broken: ServerTool = {
      ...weather,
      invoke: () => Promise.reject(new Error("postgres://user:pw@db")),
    };
    const { toolCalls, text, error } = await runAgent(
      async (_, { callTool }) => {
        try {
          await callTool("weather", {});
        } catch (reason) {
          return isAgentError(reason) ? reason.code : "unexpected";
        }
        return "no failure";
      },
      { tools: [broken] },
    );
    expect([text, error]).toEqual(["tool-error", undefined]);
    expect(toolCalls[0]?.result).toContain("tool-error");
    expect(toolCalls[0]?.result).not.toContain("postgres");
  });
});
