import { AgentError } from "@holodeck/agui-core";
import type { ActiveRun, Call, RunRecord, SessionStore } from "@holodeck/agui-core";
import type { Launch } from "./to-launch.ts";
import { findPast, fingerprintOf, runExists, wasGivenBack } from "./past-run.ts";

export interface RepeatOptions {
  readonly sessions: SessionStore;
  /** Attaches to a run by its record; only offsets are asked for. */
  readonly attach: (record: RunRecord, call: Call) => ActiveRun;
}

/**
 * Answers a request whose run id was used before. The agent is not called: an active run is followed from
 * `Last-Event-ID`, an ended one is sent again to a copy of its request, and any other request is refused with
 * `run-exists`. Returns undefined for a run that never started: it may be started.
 */
export async function repeat(
  { launch, call, record }: { launch: Launch; call: Call; record?: RunRecord },
  { sessions, attach }: RepeatOptions,
): Promise<ActiveRun | undefined> {
  const { key, request, loaded } = launch;
  const { principal, threadId, runId } = key;
  const past = launch.past ?? findPast(await sessions.get(key), runId);
  const found = record ?? (await sessions.runs.find(principal, runId));
  if (found && found.threadId !== threadId) throw runExists(runId);
  if (found?.status === "running") {
    const after = offsetOf(call);
    if (after === undefined) throw runExists(runId, "is already running");
    return resumed(attach(found, call), after);
  }
  if (found && wasGivenBack(found)) return undefined;
  if (past?.request !== fingerprintOf(request.input, loaded.id)) throw runExists(runId);
  const after = offsetOf(call) ?? 0;
  if (!found || after < found.first - 1) {
    throw runExists(runId, "has ended, and its events are not stored");
  }
  if (after > found.last) {
    const message = `Run "${runId}" ended at offset ${found.last}; ${after} was never sent.`;
    throw new AgentError("invalid-request", message);
  }
  return resumed(attach(found, call), after);
}

// The protocol asks for the run from its start; the client has seen a part of it.
function resumed(active: ActiveRun, after: number): ActiveRun {
  return {
    record: active.record,
    stream: (encoder, _from, headers) => active.stream(encoder, after, headers),
    collect: (onEvent) => active.collect(onEvent),
  };
}

function offsetOf(call: Call): number | undefined {
  const given = call.header("last-event-id");
  if (given === undefined || given === "") return undefined;
  // A part of what follows the offset is the encoder's to know.
  if (/^\d{1,15}(?:\.\d{1,3})?$/.test(given)) return Math.floor(Number(given));
  throw new AgentError(
    "invalid-request",
    `Last-Event-ID must be a whole number, as in \`id:\`, not ${JSON.stringify(given.slice(0, 40))}.`,
  );
}
