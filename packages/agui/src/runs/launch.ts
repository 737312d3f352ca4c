import { AgentError } from "@holodeck/agui-core";
import { LiveRun, isPromise } from "@holodeck/agui-core/internal";
import type {
  AgentLike,
  Awaitable,
  Lease,
  RunAgentInput,
  RunKey,
  RunRequest,
  Session,
  TakenCall,
} from "@holodeck/agui-core";
import { createQuestions } from "./client-tool-answers.ts";
import { asRead, asStored, isAddedTo, prepareInput } from "./history/trust.ts";
import type { HistoryOptions, PreparedInput } from "./history/trust.ts";
import { createThread, unknownThread } from "./find-thread.ts";
import { findPast, fingerprintOf, runExists } from "./past-run.ts";
import { ephemeralId } from "./registry.ts";
import { takenBy } from "./history/taken-calls.ts";
import { emptySession } from "./history/thread-record.ts";
import { isCutShort, recoverThread } from "./recovery/recover-thread.ts";
import { createRefusal } from "./recovery/refuse-launch.ts";
import type { HostOptions } from "./registry.ts";
import { createServerTools } from "./recovery/server-tools.ts";
import type { SessionResources } from "./resources.ts";
import { keepUntilDrained, ThreadRun } from "./thread-run.ts";
import type { Launch } from "./to-launch.ts";
import { assertRequestFits } from "./history/thread-bytes.ts";

/** The thread of a run, once it is leased. */
interface TakenThread {
  readonly session: Session;
  /** The calls that a run before it had taken and lost. */
  readonly lost: readonly TakenCall[] | undefined;
  readonly own: SessionResources | undefined;
}

/** A run whose request is stored. */
interface AcceptedRun {
  readonly lease: Lease;
  readonly thread: TakenThread;
  readonly agent: AgentLike;
  readonly prepared: PreparedInput;
  readonly taken: readonly TakenCall[] | undefined;
  /** The state of the session that its clients receive first. */
  readonly exposed: unknown;
}

const nothing: readonly never[] = Object.freeze([]);
/** The client of a run in the background: it never leaves. */
const stays = { onLeave(): void {} };

// Nearly all runs have none.
function toPrologue({ prologue = nothing }: RunRequest, exposed: unknown): readonly unknown[] {
  if (exposed === undefined) return prologue;
  return [...prologue, { type: "STATE_SNAPSHOT", snapshot: exposed }];
}

export interface Launcher {
  /**
   * Throws what is known before the thread is taken: an unknown thread, a forged approval, a thread that would be
   * too large. Stores nothing. Notes in `past` that the thread has accepted a run of this id, and then looks no
   * further.
   */
  check(launch: Launch): PromiseLike<void> | undefined;
  /** Throws `run-exists` when the thread has accepted a run of this id since it was checked. */
  confirm(launch: Launch): Promise<void>;
  /** Takes the thread's session along and makes the run. A failure gives the lease back. */
  leased(launch: Launch, lease: Lease): Awaitable<LiveRun>;
  /** A run without thread, lease or log. */
  ephemeral(launch: Launch): LiveRun;
}

/** Makes runs: the session before, what is stored at the start, in the middle and at the end. */
export function createLauncher(options: HostOptions): Launcher {
  const { settings, runs, runSettings, resources, onRun } = options;
  const { sessions, logger, clock, exposeSessionState, maxSessions } = settings;
  const maxBytes = settings.limits.sessionBytes;
  const trust = settings.trustClientHistory;
  const toolsWith = createServerTools(settings);

  const refuse = createRefusal(settings);

  function historyOf({ owner, isWhole }: Launch, agent: AgentLike): HistoryOptions {
    return { owner, isWhole, trust, serverTools: toolsWith(agent), clock };
  }

  function isRepeated({ key, isRetry }: Launch, session: Session | undefined): boolean {
    return !isRetry && findPast(session, key.runId) !== undefined;
  }

  function checkAgainst(asked: Launch, session: Session | undefined): undefined {
    const { request, loaded } = asked;
    if (!asked.isRetry) asked.past = findPast(session, asked.key.runId);
    if (asked.past) return;
    const thread = session ?? unknownThread(asked);
    const prepared = prepareInput(request.input, thread, historyOf(asked, loaded.agent));
    assertRequestFits(thread, prepared, { sentBytes: asked.sentBytes, maxBytes });
    asked.checked = { session, prepared };
  }

  async function checkLater(asked: Launch, found: PromiseLike<Session | undefined>): Promise<void> {
    checkAgainst(asked, await found);
  }

  // With a store in this process nothing here waits.
  function prepare(asked: Launch, lease: Lease): Awaitable<LiveRun> {
    const known = sessions.get(asked.key);
    if (isPromise(known) || resources || (known && isCutShort(known, asked.key))) {
      return prepareLater(asked, lease, known);
    }
    if (isRepeated(asked, known)) throw runExists(asked.key.runId);
    const session = known ?? createThread(asked, { sessions, maxSessions });
    if (isPromise(session)) return prepareLater(asked, lease, session);
    return accept(asked, lease, { session, lost: undefined, own: undefined });
  }

  async function prepareLater(
    asked: Launch,
    lease: Lease,
    finding: Awaitable<Session | undefined>,
  ): Promise<LiveRun> {
    const { key, loaded, context } = asked;
    const known = await finding;
    if (isRepeated(asked, known)) throw runExists(key.runId);
    const found = known ?? (await createThread(asked, { sessions, maxSessions }));
    const { session, lost } = isCutShort(found, key)
      ? await recoverThread(found, lease, { settings, serverTools: toolsWith(loaded.agent) })
      : { session: found, lost: undefined };
    const own = resources && (await resources.of(key, context.principal));
    return accept(asked, lease, { session, lost, own });
  }

  function accept(asked: Launch, lease: Lease, thread: TakenThread): Awaitable<LiveRun> {
    const { key, request, loaded } = asked;
    const { session, lost, own } = thread;
    const agent = own?.agent ?? loaded.agent;
    const { checked } = asked;
    // The thread has not changed since, as in nearly all cases: what was read is still valid.
    const isUnchanged = checked?.session === (asked.isNew ? undefined : session);
    const prepared =
      checked && isUnchanged && asked.replaced === undefined && agent === loaded.agent
        ? checked.prepared
        : prepareInput(readInput(asked, session), session, historyOf(asked, agent));
    warnOf(key, prepared);
    const taken = takenBy(prepared.answers, prepared.history, lost);
    const exposed = exposeSessionState?.(session);
    // Before the agent is called: the user's messages are stored even if the run then fails.
    const storing = sessions.update(
      key,
      {
        messages: prepared.history,
        maxMessages: request.maxMessages,
        maxBytes,
        metadata: request.metadata,
        pending: prepared.pending,
        claimed: prepared.claimed,
        historyOwner: asked.owner,
        active: { runId: key.runId, offset: 0, open: nothing, taken },
        run: { runId: key.runId, request: fingerprintOf(request.input, loaded.id) },
      },
      { lease },
    );
    const accepted = { lease, thread, agent, prepared, taken, exposed };
    return isPromise(storing)
      ? storing.then((stored) => begin(asked, accepted, stored))
      : begin(asked, accepted, storing);
  }

  function begin(asked: Launch, accepted: AcceptedRun, stored: Session): LiveRun {
    const { lease, agent, prepared, taken, exposed } = accepted;
    const { session, lost, own } = accepted.thread;
    const { request, context, sentHistory } = asked;
    const { maxMessages } = request;
    const { pending, answers, claimed } = prepared;
    const { input, history } = prepared.isAdded
      ? asStored(prepared, stored)
      : asRead(prepared, asked.replaced);
    const thread = new ThreadRun(
      { lease, history, asked: session.pending, pending, maxMessages, maxBytes, taken },
      sessions,
      runs,
    );
    const run = new LiveRun(
      {
        agent,
        input,
        history,
        middleware: settings.runMiddleware,
        // Written out: adding members to a copy creates a new hidden class each time, which makes
        // later reads slow.
        context: {
          threadId: context.threadId,
          runId: context.runId,
          agentId: context.agentId,
          principal: context.principal,
          requestId: context.requestId,
          request: context.request,
          tools: context.tools,
          files: context.files,
          metadata: stored.metadata,
          data: own?.data,
          answers,
          lost,
          claimed,
        },
        prologue: toPrologue(request, exposed),
        questions: request.clientTools === "inline" ? createQuestions(sessions, lease) : undefined,
        sentHistory,
        log: thread,
      },
      runSettings,
      thread,
    );
    thread.enter(run);
    if (request.isBackground) run.clients.collect(stays);
    return admit(run);
  }

  function warnOf({ threadId, runId }: RunKey, { dropped }: PreparedInput): void {
    if (dropped.length === 0) return;
    logger.warn(
      { threadId, runId, dropped },
      "Dropped client messages that could not be verified; see trustClientHistory.",
    );
  }

  function admit(run: LiveRun): LiveRun {
    // Its request came in before the doors were closed; its client gets an end all the same.
    if (!onRun()) run.abort(shuttingDown());
    return run;
  }

  return {
    check(asked) {
      const found = sessions.get(asked.key);
      return isPromise(found) ? checkLater(asked, found) : checkAgainst(asked, found);
    },
    async confirm(asked) {
      if (isRepeated(asked, await sessions.get(asked.key))) throw runExists(asked.key.runId);
    },
    leased(asked, lease) {
      try {
        const made = prepare(asked, lease);
        return isPromise(made) ? made.catch((error: unknown) => refuse(asked, lease, error)) : made;
      } catch (error) {
        return refuse(asked, lease, error);
      }
    },
    ephemeral(asked) {
      const { key, request, loaded, context } = asked;
      // Without a thread to verify it against, the input is trusted as on an unknown thread.
      const unknown = emptySession(key, loaded.id);
      const prepared = prepareInput(request.input, unknown, {
        ...historyOf(asked, loaded.agent),
        owner: "client",
        isWhole: true,
      });
      warnOf(key, prepared);
      const { input, history } = asRead(prepared, asked.replaced);
      const { runMiddleware: middleware } = settings;
      const id = ephemeralId();
      let place = 0;
      const run = new LiveRun(
        {
          agent: loaded.agent,
          input,
          history,
          middleware,
          context: { ...context, claimed: prepared.claimed },
          prologue: request.prologue ?? nothing,
          onEnd: (ended) => {
            place = keepUntilDrained(runs, id, ended);
          },
          onIdle: () => runs.lingering.remove(place),
        },
        runSettings,
      );
      runs.live.set(id, run);
      return admit(run);
    },
  };
}

// What a thread keeps by itself, it keeps as its agents read it: the file itself is gone with the run.
function readInput(asked: Launch, session: Session): RunAgentInput {
  const { input } = asked.request;
  const { replaced } = asked;
  if (!replaced?.size || !isAddedTo(session, asked)) return input;
  return { ...input, messages: input.messages.map((one) => replaced.get(one) ?? one) };
}

export function shuttingDown(): AgentError {
  return new AgentError("shutting-down", "The server is shutting down.");
}
