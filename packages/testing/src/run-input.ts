import { createRunContext } from "@holodeck/agui-core/internal";
import type { RunAgentInput, RunContext } from "@holodeck/agui-core";
import type { RunContextInit } from "@holodeck/agui-core/internal";

/** A valid input, with what you give it. */
export function runInput(input: Partial<RunAgentInput> = {}): RunAgentInput {
  return {
    threadId: "thread-1",
    runId: "run-1",
    state: {},
    messages: [],
    tools: [],
    context: [],
    ...input,
  };
}

/** A context for middleware under test. It has no run behind it, so `emit` and `state` throw. */
export function runContext(init: Partial<RunContextInit> = {}): RunContext {
  return createRunContext({ threadId: "thread-1", runId: "run-1", ...init });
}
