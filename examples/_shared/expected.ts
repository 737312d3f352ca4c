import type { Client } from "./clients.ts";

type Expected = Record<string, unknown>;

/** How every run begins. */
export const started: Expected = { type: "RUN_STARTED" };

/** How a run ends that has no open questions. */
export const finished: Expected = { type: "RUN_FINISHED" };

/** How a run ends that waits for frontend tools. Clients before 1.0 receive no outcome of a success. */
export function waitingFor(client: Client, ...pendingToolCallIds: string[]): Expected {
  if (!client.speaks1) return finished;
  return { type: "RUN_FINISHED", outcome: { type: "success", pendingToolCallIds } };
}

/** One message of the assistant, delta by delta. */
export function text(...deltas: string[]): Expected[] {
  return [
    { type: "TEXT_MESSAGE_START", role: "assistant" },
    ...deltas.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", delta })),
    { type: "TEXT_MESSAGE_END" },
  ];
}

/** One tool call, fragment by fragment of its arguments. */
export function toolCall(toolCallName: string, ...deltas: string[]): Expected[] {
  return [
    { type: "TOOL_CALL_START", toolCallName },
    ...deltas.map((delta) => ({ type: "TOOL_CALL_ARGS", delta })),
    { type: "TOOL_CALL_END" },
  ];
}
