import { AgentError, EventType, isAgentError } from "@holodeck/agui-core";
import { dateOf } from "@holodeck/agui-core/internal";
import type { Lease } from "@holodeck/agui-core";
import type { Settings } from "../../options/options.ts";
import type { Launch } from "../to-launch.ts";
import { givenBack } from "../past-run.ts";

type Refuse = (asked: Launch, lease: Lease, error: unknown) => Promise<never>;

/** Returns a function that undoes what was taken for a run that cannot start, and throws why. */
export function createRefusal({
  sessions,
  logger,
  clock,
}: Pick<Settings, "sessions" | "logger" | "clock">): Refuse {
  // A thread that did not exist before this request does not exist after it, nor does its run.
  async function forget(lease: Lease, error: unknown): Promise<void> {
    try {
      await sessions.delete(lease);
    } catch (second) {
      logger.warn(
        { error: second, cause: error, threadId: lease.threadId },
        "The thread of a refused request could not be removed.",
      );
      await giveBack(lease, error);
    }
  }

  async function giveBack(lease: Lease, error: unknown): Promise<void> {
    const event = {
      type: EventType.RUN_ERROR,
      message: "The run could not start.",
      code: "internal",
    };
    const terminal = { from: 1, to: 1, at: dateOf(clock), event };
    // A copy of an accepted request is not to be taken for a run that never began.
    const isCopy = isAgentError(error) && error.code === "run-exists";
    try {
      await sessions.runs.close(lease, terminal, isCopy ? "failed" : givenBack);
    } catch (second) {
      logger.error(
        { error: second, cause: error, runId: lease.runId },
        "A lease could not be released.",
      );
    }
  }

  return async (asked, lease, error) => {
    if (asked.isNew) await forget(lease, error);
    else await giveBack(lease, error);
    throw isAgentError(error) && error.code === "run-lost" ? tooLate(error) : error;
  };
}

// The process stood still between taking the thread and storing the request.
function tooLate(cause: AgentError): AgentError {
  return new AgentError("run-lost", "The run was lost before it started.", {
    status: 503,
    retryAfter: 1,
    cause,
  });
}
