import { AgentError, EventType, isAgentError } from "@holodeck/agui-core";
import { LiveRun, isPromise } from "@holodeck/agui-core/internal";
import type {
  AgentLike,
  HistoryOwner,
  Lease,
  Message,
  PastRun,
  RunAgentInput,
  RunKey,
  RunRequest,
  Session,
} from "@holodeck/agui-core";
import type { RunContextInit } from "@holodeck/agui-core/internal";
import type { LoadedAgent } from "./agents.ts";
import { createQuestions } from "./client-tool-answers.ts";
import { asRead, asStored, isAddedTo, prepareInput } from "./history/trust.ts";
import type { HistoryOptions, PreparedInput } from "./history/trust.ts";
import { createThread, unknownThread } from "./find-thread.ts";
import { findPast, fingerprintOf, givenBack, runExists } from "./past-run.ts";
import { ephemeralId } from "./registry.ts";
import { takenBy } from "./history/taken-calls.ts";
import { emptySession } from "./history/thread-record.ts";
import { isCutShort, recoverThread } from "./recovery/recover-thread.ts";
import type { HostOptions } from "./registry.ts";
import { createServerTools } from "./recovery/server-tools.ts";
import { keepUntilDrained, ThreadRun } from "./thread-run.ts";
import { assertRequestFits } from "./history/thread-bytes.ts";

/** A run that was asked for and admitted. */
export interface Launch {
  readonly key: RunKey;
  readonly request: RunRequest;
  readonly loaded: LoadedAgent;
  readonly context: RunContextInit;
  /** The owner of the messages of its thread, if it has none yet. */
  readonly owner: HistoryOwner;
  /** Whether its protocol sends all messages, and not only what is new. */
  readonly isWhole: boolean;
  /** The bytes of its request; absent when they are not known. */
  readonly sentBytes: number | undefined;
  /** Whether its thread is made when there is none. */
  readonly mayCreate: boolean;
  /** What its client sends with every request; absent when that is only what is new. */
  readonly sentHistory: RunInit["sentHistory"];
  /** What was found in the thread before it was taken. */
  checked?:
    | {
        /** Absent for a thread that does not exist. */
        readonly session: Session | undefined;
        readonly prepared: PreparedInput;
      }
    | undefined;
  /** Its thread did not exist, and is made for it. */
  isNew?: boolean;
  /** The run of the same id that its thread has accepted before. */
  past?: PastRun | undefined;
  /** That run never began: this one may. */
  isRetry?: boolean;
  /** The messages that its agent reads in another form than they were sent in. */
  readonly replaced?: ReadonlyMap<Message, Message> | undefined;
}

type RunInit = ConstructorParameters<typeof LiveRun>[0];

/** What a run on a thread is made of. */
type RunParts = Pick<
  RunInit,
  "agent" | "input" | "context" | "prologue" | "questions" | "sentHistory"
> & {
  readonly history: readonly Message[];
};

const nothing: readonly never[] = Object.freeze([]);

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
  leased(launch: Launch, lease: Lease): Promise<LiveRun>;
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

  function historyOf({ owner, isWhole }: Launch, agent: AgentLike): HistoryOptions {
    return { owner, isWhole, trust, serverTools: toolsWith(agent), clock };
  }

  function isRepeated({ key, isRetry }: Launch, session: Session | undefined): boolean {
    return !isRetry && findPast(session, key.runId) !== undefined;
  }

  // With a store in this process nothing here waits.
  async function prepare(asked: Launch, lease: Lease): Promise<LiveRun> {
    const { key, request, loaded } = asked;
    const { maxMessages } = request;
    const finding = sessions.get(key);
    const known = isPromise(finding) ? await finding : finding;
    if (isRepeated(asked, known)) throw runExists(key.runId);
    const making = known ?? createThread(asked, { sessions, maxSessions });
    const found = isPromise(making) ? await making : making;
    const { session, lost } = isCutShort(found, key)
      ? await recoverThread(found, lease, { settings, serverTools: toolsWith(loaded.agent) })
      : { session: found, lost: undefined };
    const own = resources && (await resources.of(key, asked.context.principal));
    const agent = own?.agent ?? loaded.agent;
    const { checked } = asked;
    // The thread has not changed since, as in nearly all cases: what was read is still valid.
    const isUnchanged = checked?.session === (known ? session : undefined);
    const prepared =
      checked && isUnchanged && asked.replaced === undefined && agent === loaded.agent
        ? checked.prepared
        : prepareInput(readInput(asked, session), session, historyOf(asked, agent));
    warnOf(key, prepared);
    const { pending, answers, claimed } = prepared;
    const taken = takenBy(answers, prepared.history, lost);
    const exposed = exposeSessionState?.(session);
    // Before the agent is called: the user's messages are stored even if the run then fails.
    const storing = sessions.update(
      key,
      {
        messages: prepared.history,
        maxMessages,
        maxBytes,
        metadata: request.metadata,
        pending,
        claimed,
        historyOwner: prepared.owner,
        active: { runId: key.runId, offset: 0, open: nothing, taken },
        run: { runId: key.runId, request: fingerprintOf(request.input, loaded.id) },
      },
      { lease },
    );
    const stored = isPromise(storing) ? await storing : storing;
    const { input, history } = prepared.isAdded
      ? asStored(prepared, stored)
      : asRead(prepared, asked.replaced);
    const { threadId, runId, agentId, principal, requestId, tools, files } = asked.context;
    return begin(
      {
        agent,
        input,
        history,
        // Written out: adding members to a copy creates a new hidden class each time, which makes
        // later reads slow.
        context: {
          threadId,
          runId,
          agentId,
          principal,
          requestId,
          request: asked.context.request,
          tools,
          files,
          metadata: stored.metadata,
          data: own?.data,
          answers,
          lost,
          claimed,
        },
        prologue: exposed === undefined ? nothing : [{ type: "STATE_SNAPSHOT", snapshot: exposed }],
        questions: request.clientTools === "inline" ? createQuestions(sessions, lease) : undefined,
        sentHistory: asked.sentHistory,
      },
      new ThreadRun(
        { lease, history, asked: session.pending, pending, maxMessages, maxBytes, taken },
        sessions,
        runs,
      ),
    );
  }

  function warnOf({ threadId, runId }: RunKey, { dropped }: PreparedInput): void {
    if (dropped.length === 0) return;
    logger.warn(
      { threadId, runId, dropped },
      "Dropped client messages that could not be verified; see trustClientHistory.",
    );
  }

  function begin(parts: RunParts, thread: ThreadRun): LiveRun {
    const { agent, input, history, context, prologue, questions, sentHistory } = parts;
    const { runMiddleware: middleware } = settings;
    const run = new LiveRun(
      { agent, input, history, middleware, context, prologue, questions, sentHistory, log: thread },
      runSettings,
      thread,
    );
    thread.enter(run);
    return admit(run);
  }

  function admit(run: LiveRun): LiveRun {
    // Its request came in before the doors were closed; its client gets an end all the same.
    if (!onRun()) run.abort(shuttingDown());
    return run;
  }

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
    const terminal = { from: 1, to: 1, at: clock.now(), event };
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

  return {
    check(asked) {
      const note = (session: Session | undefined): void => {
        const { request, loaded } = asked;
        if (!asked.isRetry) asked.past = findPast(session, asked.key.runId);
        if (asked.past) return;
        const thread = session ?? unknownThread(asked);
        const prepared = prepareInput(request.input, thread, historyOf(asked, loaded.agent));
        assertRequestFits(thread, prepared, { sentBytes: asked.sentBytes, maxBytes });
        asked.checked = { session, prepared };
      };
      const found = sessions.get(asked.key);
      if (isPromise(found)) return found.then(note);
      note(found);
      return undefined;
    },
    async confirm(asked) {
      if (isRepeated(asked, await sessions.get(asked.key))) throw runExists(asked.key.runId);
    },
    async leased(asked, lease) {
      try {
        return await prepare(asked, lease);
      } catch (error) {
        if (asked.isNew) await forget(lease, error);
        else await giveBack(lease, error);
        throw isAgentError(error) && error.code === "run-lost" ? tooLate(error) : error;
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

// The process stood still between taking the thread and storing the request.
function tooLate(cause: AgentError): AgentError {
  return new AgentError("run-lost", "The run was lost before it started.", {
    status: 503,
    retryAfter: 1,
    cause,
  });
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
