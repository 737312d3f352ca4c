import { runAgent } from "@holodeck/agui-testing";
import { expect, test } from "vitest";
import { agent } from "../agent.ts";

test("repeats its input, and counts", async () => {
  const run = await runAgent(agent, { message: "Hello" });
  expect(run.text).toBe("You said: Hello");
  expect(run.state).toEqual({ turns: 1 });
  expect(run.error).toBeUndefined();
});
