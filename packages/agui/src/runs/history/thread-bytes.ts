import { isAgentError } from "@holodeck/agui-core";
import type { Session } from "@holodeck/agui-core";
import { changeSession } from "@holodeck/agui-sessions/kit";
import type { PreparedInput } from "./trust.ts";

// A byte of a thread in memory is at most two bytes of JSON.
const jsonPerByte = 2;
// A number may be written longer than it came: 1e20 has 21 digits.
const jsonPerSent = 6;

/** Throws `session-too-large` for a request that would make its thread larger than it may be. */
export function assertRequestFits(
  session: Session,
  { history, input }: PreparedInput,
  { sentBytes, maxBytes }: { readonly sentBytes: number | undefined; readonly maxBytes: number },
): void {
  const { size } = session;
  const held = size ? (size.messageBytes + size.stateBytes) * jsonPerByte : undefined;
  // Nearly always: the thread and the request fit together, whatever is in them.
  if (sentBytes !== undefined && held !== undefined && held + sentBytes * jsonPerSent <= maxBytes)
    return;
  changeSession(session, { messages: history, state: input.state, maxBytes }, { now: 0 });
}

/** True for the error of a thread that would hold too much. */
export function isTooLarge(error: unknown): boolean {
  return isAgentError(error) && error.code === "session-too-large";
}
