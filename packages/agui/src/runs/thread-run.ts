import { AgentError } from "@holodeck/agui-core";
import { isPromise, toPending } from "@holodeck/agui-core/internal";
import type {
  Lease,
  Message,
  Pending,
  RunCommand,
  RunLog,
  SessionStore,
  TakenCall,
} from "@holodeck/agui-core";
import type {
  LiveRun,
  RunFold,
  RunPersistence,
  RunLease,
  RunSummary,
} from "@holodeck/agui-core/internal";
import { liveId } from "./registry.ts";
import type { RunRegistry } from "./registry.ts";
import { markIncomplete } from "./history/thread-record.ts";
import { isTooLarge } from "./history/thread-bytes.ts";

// One for all runs on a store in this process.
const saved = Promise.resolve();

/** What a run on a thread begins with. */
export interface ThreadRunInit {
  readonly lease: Lease;
  /** What the thread held before the run. */
  readonly history: readonly Message[];
  /** What it waited for before the run's request. */
  readonly asked: readonly Pending[];
  /** What of that the request did not answer. */
  readonly pending: readonly Pending[];
  readonly maxMessages: number | undefined;
  /** How large the thread may be. */
  readonly maxBytes: number;
  /** The calls that a person has answered for it. */
  readonly taken: readonly TakenCall[] | undefined;
}

/**
 * What a run on a thread needs until its end: its log, its store, and how to stop it. One object with
 * methods, because there is one for every open stream; it holds nothing of the request, nor of the
 * preparation of the run.
 */
export class ThreadRun implements RunPersistence, RunLease {
  readonly lease: Lease;
  readonly runs: RunLog;
  readonly #sessions: SessionStore;
  readonly #registry: RunRegistry;
  readonly #history: readonly Message[];
  readonly #asked: readonly Pending[];
  readonly #pending: readonly Pending[];
  readonly #maxMessages: number | undefined;
  readonly #maxBytes: number;
  readonly #taken: readonly TakenCall[] | undefined;
  readonly #unsubscribe: () => void;
  #run: LiveRun | undefined = undefined;
  /** Its handle among the runs that are kept until they are drained; 0 when it has none. */
  #place = 0;

  constructor(init: ThreadRunInit, sessions: SessionStore, registry: RunRegistry) {
    this.lease = init.lease;
    this.runs = sessions.runs;
    this.#sessions = sessions;
    this.#registry = registry;
    this.#history = init.history;
    this.#asked = init.asked;
    this.#pending = init.pending;
    this.#maxMessages = init.maxMessages;
    this.#maxBytes = init.maxBytes;
    this.#taken = init.taken;
    this.#unsubscribe = this.runs.commands(init.lease, (command) => this.#onCommand(command));
  }

  /** Takes the run that this is about. */
  enter(run: LiveRun): void {
    this.#run = run;
    this.#registry.live.set(liveId(this.lease), run);
  }

  // Never at once: an agent that has sent its last event is asked for the next one before it is stopped.
  save(summary: RunSummary): Promise<unknown> {
    const { lease } = this;
    const { status, messages, state, times, metadata, hasBegun } = summary;
    const history = this.#history;
    const pending = hasBegun
      ? this.#pendingAfter(summary)
      : [...this.#asked.filter(isQuestion), ...this.#pending.filter((one) => !isQuestion(one))];
    try {
      const storing = this.#sessions.update(
        lease,
        {
          messages: status === "finished" ? messages : markIncomplete(messages, history),
          maxMessages: this.#maxMessages,
          maxBytes: this.#maxBytes,
          times,
          state,
          metadata,
          pending,
          lastRunId: lease.runId,
          active: null,
        },
        { lease },
      );
      return isPromise(storing) ? storing.catch((error: unknown) => this.#notSaved(error)) : saved;
    } catch (error) {
      return this.#notSaved(error);
    }
  }

  // A thread that is too large stays as the request left it, and the next run does not take this one for lost.
  async #notSaved(error: unknown): Promise<never> {
    const { lease } = this;
    if (isTooLarge(error)) {
      const change = { pending: this.#pending, lastRunId: lease.runId, active: null };
      await this.#sessions.update(lease, change, { lease });
    }
    throw error;
  }

  // Most runs leave nothing for their client or for a person to answer.
  #pendingAfter(summary: RunSummary): readonly Pending[] {
    const { terminal, pendingCalls } = summary;
    const isDone = terminal.outcome === undefined && pendingCalls.length === 0;
    if (isDone && this.#pending.length === 0) return this.#pending;
    return toPending(this.lease.runId, summary, this.#pending);
  }

  checkpoint({ messages, state, times, offset, open }: RunFold): unknown {
    const { lease } = this;
    const active = { runId: lease.runId, offset, open, taken: this.#taken };
    const maxMessages = this.#maxMessages;
    const maxBytes = this.#maxBytes;
    const change = { messages, maxMessages, maxBytes, state, times, active };
    return this.#sessions.update(lease, change, { lease });
  }

  onEnd(run: LiveRun): void {
    this.#unsubscribe();
    this.#place = keepUntilDrained(this.#registry, liveId(this.lease), run);
  }

  onIdle(): void {
    this.#registry.lingering.remove(this.#place);
  }

  #onCommand(command: RunCommand): void {
    const run = this.#run;
    run?.post(() => this.#obey(run, command));
  }

  #obey(run: LiveRun, command: RunCommand): void {
    if (command.type !== "stop") {
      run.answer(command);
      return;
    }
    const { reason, ifUnfollowed } = command;
    if (ifUnfollowed && (run.followers > 0 || !run.wasFollowed)) return;
    run.abort(reason === "replaced" ? replaced() : stopped());
  }
}

// The answers of a run that never began are not used: its questions can be answered again. Results of client tools
// are in the thread already.
function isQuestion({ kind }: Pending): boolean {
  return kind === "interrupt";
}

/** Keeps a run that has ended while its clients may not have everything yet. Returns its handle. */
export function keepUntilDrained(
  { live, lingering }: RunRegistry,
  id: string,
  run: LiveRun,
): number {
  if (live.get(id) === run) live.delete(id);
  return lingering.add(run);
}

export function stopped(): AgentError {
  return new AgentError("stopped", "The run was stopped.");
}

function replaced(): AgentError {
  return new AgentError("replaced", "A new run on the thread replaced this one.");
}
