/**
 * The phases of a run, and when it enters them:
 *
 *   from         to           when
 *   waiting      running      the first client follows, or the result is collected
 *   waiting      ending       the run is aborted, or its store fails, before the agent was started
 *   running      ending       the guard accepted the terminal event, or the store failed
 *   ending       delivering   the end is stored, or the store has failed
 *   delivering   ended        every client was sent the end, the result is known, `onEnd` was called
 *   ended        drained      no client is owed anything
 *   drained      ended        a client follows a run that has ended, to receive its log
 *
 * While it is "ending", the store may still be appending, saving and closing, one after the other.
 */
export type RunPhase = "waiting" | "running" | "ending" | "delivering" | "ended" | "drained";

const next: Readonly<Record<RunPhase, readonly RunPhase[]>> = {
  waiting: ["running", "ending"],
  running: ["ending"],
  ending: ["delivering"],
  delivering: ["ended"],
  ended: ["drained"],
  drained: ["ended"],
};

/** Returns the phase to enter. Throws when it cannot follow the other. */
export function toPhase(from: RunPhase, to: RunPhase): RunPhase {
  if (!next[from].includes(to)) throw new Error(`A run that is ${from} cannot be ${to} next.`);
  return to;
}

/** Whether the agent may still send events. */
export function isGoing(phase: RunPhase): boolean {
  return phase === "running" || phase === "waiting";
}

/** Whether the clients have received the end, or are just receiving it. */
export function isEndDelivered(phase: RunPhase): boolean {
  return phase !== "ending" && !isGoing(phase);
}
