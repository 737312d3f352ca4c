import type { RunAgentInput } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { createAgentHandler, presets } from "../src/index.ts";
import type { AgentFunction } from "../src/index.ts";
import { memoryLogger, post } from "./_helpers.ts";

// The request and the events that the founding document writes down.
const request = {
  thread_id: "550e8400-e29b-41d4-a716-446655440000",
  run_id: "6ba7b810-9dad-41d1-80b4-00c04fd430c8",
  messages: [{ role: "user", content: "Analyze this contract for risks..." }],
  context: [],
  state: {},
};
const progress = { agent_id: "contract-guardian", status: "running", progress: 33 };
const plan = { steps: ["read", "judge"] };

function serve(wireCase: "snake" | "camel" = "camel"): {
  fetch: (request: Request) => Promise<Response>;
  inputs: RunAgentInput[];
} {
  const inputs: RunAgentInput[] = [];
  const team: AgentFunction = async (input, { emit, state }) => {
    inputs.push(input);
    await state.set({ status: "planning", risk_level: "none", history: "x".repeat(99) });
    await emit.step("orchestrator-planning", () =>
      state.patch([{ op: "add", path: "/plan", value: plan }]),
    );
    emit.activity("AGENT_EXECUTION", progress);
    await emit.text("Analysis complete...");
    return { status: "COMPLETED" };
  };
  const { fetch } = createAgentHandler(team, {
    ...presets.flagpilot({ wireCase }),
    logger: memoryLogger(),
  });
  return { fetch, inputs };
}

const path = "/api/agui";

describe("a run of FlagPilot", () => {
  test("begins with a body that has no more than it must", async () => {
    const { fetch, inputs } = serve();
    await (await fetch(post(request, { path }))).text();
    expect(inputs).toMatchObject([
      { threadId: request.thread_id, runId: request.run_id, context: [], state: {} },
    ]);
    expect(inputs[0]!.messages).toEqual([
      { id: expect.stringMatching(/\S/) as string, ...request.messages[0] },
    ]);
  });

  test.for(["snake", "camel"] as const)("is sent event by event, in %s case", async (wireCase) => {
    const { fetch } = serve(wireCase);
    const headers = { accept: "text/event-stream" };
    const response = await fetch(post(request, { path, headers }));
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const frames = (await response.text()).split("\n\n");
    expect(frames.pop()).toBe("");
    const events = frames.map((frame) => {
      const [data, ...others] = frame.split("\n").filter((line) => line.startsWith("data: "));
      expect(others).toEqual([]);
      return JSON.parse(data!.slice("data: ".length)) as Record<string, unknown>;
    });
    const key = (name: string): string =>
      wireCase === "snake" ? name : name.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase());
    const id = expect.stringMatching(/\S/) as string;
    const run = { [key("thread_id")]: request.thread_id, [key("run_id")]: request.run_id };
    expect(events).toMatchObject([
      { type: "RUN_STARTED", ...run },
      { type: "STATE_SNAPSHOT", snapshot: { status: "planning", risk_level: "none" } },
      { type: "STEP_STARTED", [key("step_name")]: "orchestrator-planning" },
      { type: "STATE_DELTA", delta: [{ op: "add", path: "/plan", value: plan }] },
      { type: "STEP_FINISHED", [key("step_name")]: "orchestrator-planning" },
      {
        type: "ACTIVITY_SNAPSHOT",
        [key("message_id")]: id,
        [key("activity_type")]: "AGENT_EXECUTION",
        content: progress,
      },
      { type: "TEXT_MESSAGE_START", [key("message_id")]: id },
      { type: "TEXT_MESSAGE_CONTENT", [key("message_id")]: id, delta: "Analysis complete..." },
      { type: "TEXT_MESSAGE_END", [key("message_id")]: id },
      { type: "RUN_FINISHED", ...run, result: { status: "COMPLETED" } },
    ]);
  });
});
