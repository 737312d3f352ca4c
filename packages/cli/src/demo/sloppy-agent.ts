import type { AgentEvent, AgentFunction } from "@holodeck/agui";
import { pause } from "./pause.ts";

/**
 * Makes the mistakes that agents make: it forgets ends and ids, continues what never started, patches
 * what does not exist, and sends events after the end. Clients receive a valid run; the guard reports
 * the repairs.
 */
export function createSloppyAgent(pace: number): AgentFunction {
  return async function* (input, { signal }) {
    for (const event of mistakes(input.messages.length)) {
      await pause(120 * pace, signal);
      yield event as AgentEvent | string;
    }
  };
}

function mistakes(turn: number): readonly unknown[] {
  const message = `sloppy-${turn}`;
  const call = `sloppy-call-${turn}`;
  return [
    { type: "RUN_STARTED", threadId: "somebody-elses", runId: "another" },
    { type: "THINKING_START" },
    { type: "THINKING_TEXT_MESSAGE_START" },
    { type: "THINKING_TEXT_MESSAGE_CONTENT", delta: "In the words of an older version." },
    { type: "TEXT_MESSAGE_CONTENT", messageId: message, delta: "I never began this message, " },
    { type: "TEXT_MESSAGE_CONTENT", messageId: message, delta: "and I will not end it. " },
    { type: "TOOL_CALL_ARGS", toolCallId: call, delta: '{"tidy":' },
    { type: "TOOL_CALL_ARGS", toolCallId: call, delta: "false}" },
    { type: "TOOL_CALL_RESULT", toolCallId: call, content: { tidied: 0 } },
    { type: "STATE_DELTA", delta: [{ op: "replace", path: "/not/there", value: 1 }] },
    { type: "STEP_STARTED", stepName: "never finished" },
    { type: "SOMETHING_ELSE", value: 42 },
    42,
    {
      type: "TEXT_MESSAGE_CONTENT",
      messageId: message,
      delta: "Still you can read it.",
      rawEvent: null,
    },
    { type: "RUN_FINISHED", threadId: "somebody-elses", runId: "another" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: message, delta: "This comes too late." },
  ];
}
