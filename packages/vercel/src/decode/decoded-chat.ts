import type { Awaitable, Limits, RunAgentInput } from "@holodeck/agui-core";

/** A request of `useChat` in AG-UI's terms. */
export interface DecodedChat {
  readonly input: RunAgentInput;
  /** The agent that the request names. */
  readonly agentId?: string;
  /** Id of the assistant message that this run continues. */
  readonly continues?: string;
  /** Ids of the calls that the user has just denied. */
  readonly denied?: ReadonlySet<string>;
}

/** What a decoder needs besides the body. */
export interface DecodeOptions {
  /** Of the run to be started; ids that the client did not give are made from it. */
  readonly runId: string;
  readonly limits: Limits;
}

/** One generation's way to read a body. */
export type DecodeChat = (
  body: Record<string, unknown>,
  options: DecodeOptions,
) => Awaitable<DecodedChat>;
