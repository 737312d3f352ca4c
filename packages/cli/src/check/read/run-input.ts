import type { Message } from "@ag-ui/core";
import { PROTOCOL_VERSION, ulid } from "@holodeck/agui-core";

/** The body of a request for a run. */
export interface RunInput {
  readonly threadId: string;
  readonly runId: string;
  readonly protocolVersion?: string;
  readonly state: unknown;
  readonly messages: readonly Message[];
  readonly tools: readonly never[];
  readonly context: readonly never[];
  readonly forwardedProps: object;
}

/** A run with one message on a new thread, or after other messages on their thread. */
export function createRunInput(
  prompt: string,
  after: { threadId: string; messages: readonly Message[] } = { threadId: newId(), messages: [] },
): RunInput {
  return {
    threadId: after.threadId,
    runId: newId(),
    protocolVersion: PROTOCOL_VERSION,
    state: {},
    messages: [...after.messages, { id: newId(), role: "user", content: prompt }],
    tools: [],
    context: [],
    forwardedProps: {},
  };
}

/** The same run as sent by a client of 0.0.x, on a new thread. */
export function createOldRunInput(prompt: string): RunInput {
  const { protocolVersion: _, ...input } = createRunInput(prompt);
  return input;
}

/** The same run as sent by a client of another version, on a new thread. */
export function createRunInputOf(protocolVersion: string, prompt: string): RunInput {
  return { ...createRunInput(prompt), protocolVersion };
}

function newId(): string {
  return `check-${ulid()}`;
}
