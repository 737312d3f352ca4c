import type { Guard } from "./types.ts";
import { SafeLogger } from "../base/logger.ts";
import type { RunContext } from "../contract/context.ts";

/** Everything a guard may have to repair in the output of an agent. */
export type RepairKind =
  /** Came after the end of the run; dropped. */
  | "after-end"
  /** A chunk contradicts the message or tool call it continues; its word on that is ignored. */
  | "chunk-conflict"
  /** A start of something that is open already; dropped, or the first one is closed. */
  | "duplicate-start"
  /** An id that a client could not send back: empty, too long or not well-formed; replaced. */
  | "id"
  /** Left open at the end of the run; closed. */
  | "left-open"
  /** A THINKING_* event of AG-UI 0.0.x; translated to REASONING_*. */
  | "legacy-thinking"
  /** Not usable as the event it claims to be; wrapped as RAW. */
  | "malformed"
  /** A required field is missing; filled in. */
  | "missing-field"
  /** Neither an event nor text; dropped. */
  | "not-an-event"
  /** Cannot be written as JSON; left out or described. */
  | "not-json"
  /** An end of something that is not open; dropped, or given a start. */
  | "not-open"
  /** Content of something that never started; started. */
  | "not-started"
  /** `null` in an optional field; left out. */
  | "null-field"
  /** Content of something that had ended; started again. */
  | "reopened"
  /** A call that was begun under the id of another one that has its result; given another id. */
  | "reused-call"
  /** The ids of another run; replaced. */
  | "run-ids"
  /** A second RUN_STARTED; dropped. */
  | "run-started"
  /** A patch that does not apply to the state; replaced by a snapshot. */
  | "state-delta"
  /** A subagent id that was used before, or a parent that was never announced. */
  | "subagent"
  /** An event type AG-UI does not have; wrapped as RAW. */
  | "unknown-type"
  /** Attributed to someone else than what it continues; attributed to the owner. */
  | "wrong-owner"
  /** A field of the wrong type; converted or left out. */
  | "wrong-type";

/** Counts repairs. An object, since otherwise each rule of a run would need a function. */
export interface Repairer {
  /** Throws a `Violation` in strict mode. */
  repair(kind: RepairKind): void;
  /** The run, whose empty ids are its own. */
  readonly runId?: string;
}

/** Carries the first repair out of whatever was going on in strict mode. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** Logs once per run what had to be repaired, and in which stage. */
export function reportRepairs(
  context: RunContext,
  stage: "agent" | "middleware",
  guard: Pick<Guard, "repairs" | "firstRepair">,
): void {
  // Asked first: a guard that repaired nothing has no book of it.
  if (guard.firstRepair === undefined) return;
  new SafeLogger(context.logger).warn(
    {
      runId: context.runId,
      threadId: context.threadId,
      agentId: context.agentId,
      stage,
      repairs: Object.fromEntries(guard.repairs),
      first: guard.firstRepair,
    },
    `Events of the ${stage} were repaired; \`strict: true\` turns this into an error.`,
  );
}
