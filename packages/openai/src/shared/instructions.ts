import type { RunAgentInput } from "@holodeck/agui-core";

/**
 * Where system and developer messages go. `"context"`: to `input.context`, for the agent to use or not.
 * `"messages"`: to `input.messages`, where a handler without `trustClientHistory` drops them.
 */
export type InstructionsTarget = "context" | "messages";

/** Instructions of a client as AG-UI's context. */
export function toContext(instructions: readonly string[]): RunAgentInput["context"] {
  return instructions.map((value) => ({ description: "Instructions of the client", value }));
}
