import { AgentError } from "../../contract/errors.ts";
import { sizeOfEvent } from "../../delta/event-size.ts";
import type { Ending } from "../ending.ts";
import type { RunLease } from "../types.ts";
import type { Follower } from "./follower.ts";

/** The run that a client catches up with. */
export interface RunAhead {
  /** The last offset a client can have seen. */
  readonly delivered: number;
  readonly isEndDelivered: boolean;
  readonly ending: Pick<Ending, "unstored">;
}

interface Start {
  /** The offset after which the log is read. */
  readonly after: number;
  readonly lease: RunLease;
}

/**
 * Sends a client what the log has after an offset, until it has reached the live entries. Throws `replay-gone` when the
 * log lacks what was delivered to others: the client would miss it in silence.
 */
export async function catchUp(follower: Follower, run: RunAhead, start: Start): Promise<void> {
  const { runs, lease } = start.lease;
  const { principal, threadId, runId } = lease;
  let { after } = start;
  while (!follower.isGone) {
    if (follower.blocked) await new Promise<void>((resolve) => (follower.wake = resolve));
    if (after >= run.delivered) break;
    const entries = await runs.read({ principal, threadId, runId }, after, 256);
    if (entries.length === 0 && run.ending.unstored) break;
    if (entries[0]?.from !== after + 1) {
      throw new AgentError("replay-gone", `The log of run "${runId}" lacks offset ${after + 1}.`);
    }
    follower.deliver(entries.map((entry) => ({ ...entry, size: sizeOfEvent(entry.event) })));
    after = entries.at(-1)!.to;
  }
  follower.isCatchingUp = false;
  // While the end is being stored it is still to come.
  if (!run.isEndDelivered) return;
  const { unstored } = run.ending;
  if (unstored && after <= run.delivered) follower.deliver([unstored]);
  follower.close();
}
