// Longer than our usual file: all that a run needs before its agent is called, in the order it is got.
import { AgentError, EventType, foldRun, LiveRun } from "@holodeck/agui-core";
import type {
  Awaitable,
  Lease,
  Message,
  RunContextInit,
  RunKey,
  RunRequest,
  Session,
} from "@holodeck/agui-core";
import type { LoadedAgent } from "./agents.ts";
import { createQuestions } from "./answer.ts";
import { asRead, asStored, prepareInput } from "./history.ts";
import type { PreparedInput } from "./history.ts";
import { isPromise } from "./is-promise.ts";
import { asideId } from "./registry.ts";
import { emptySession, markIncomplete } from "./thread-record.ts";
import type { HostOptions } from "./registry.ts";
import { linger, ThreadRun } from "./thread-run.ts";

/** A run that was asked for and admitted. */
export interface Launch {
  readonly key: RunKey;
  readonly request: RunRequest;
  readonly loaded: LoadedAgent;
  readonly context: RunContextInit;
  /** Who owns the messages of its thread. */
  readonly owner: "client" | "server";
  /** Whether its thread is made when there is none. */
  readonly mayCreate: boolean;
  /** What its client sends with every request; absent when that is only what is new. */
  readonly sentHistory: RunInit["sentHistory"];
  /** What was found in the thread before it was taken. */
  checked?: { readonly session: Session; readonly prepared: PreparedInput } | undefined;
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
  /** Throws what can be said before the thread is taken: an unknown thread, a forged approval. */
  check(launch: Launch): Awaitable<void>;
  /** Takes the thread's session along and makes the run. A failure gives the lease back. */
  leased(launch: Launch, lease: Lease): Promise<LiveRun>;
  /** A run without thread, lease or log. */
  ephemeral(launch: Launch): LiveRun;
}

/** Makes runs: the session before, what is stored at the start, in the middle and at the end. */
export function createLauncher(options: HostOptions): Launcher {
  const { settings, runs, runSettings, resources, onRun } = options;
  const { sessions, logger, clock, exposeSessionState } = settings;
  const trust = settings.trustClientHistory;

  function find(asked: Launch): Awaitable<Session> {
    const found = sessions.get(asked.key);
    if (isPromise(found)) return found.then((session) => session ?? create(asked));
    return found ?? create(asked);
  }

  function create({ key, loaded, request, mayCreate }: Launch): Awaitable<Session> {
    if (!mayCreate) {
      throw new AgentError("thread-not-found", `There is no thread "${key.threadId}".`);
    }
    const { metadata } = request;
    const agentId = loaded.id;
    try {
      const made = sessions.create(key, metadata ? { agentId, metadata } : { agentId });
      return isPromise(made)
        ? made.then(undefined, (error: unknown) => madeMeanwhile(key, error))
        : made;
    } catch (error) {
      return madeMeanwhile(key, error);
    }
  }

  // Another request for the same new thread may have been quicker.
  async function madeMeanwhile(key: RunKey, error: unknown): Promise<Session> {
    const made = await sessions.get(key);
    if (made) return made;
    throw error;
  }

  // The process that ran the last run died, or the run lost its lease: what its log has is not lost.
  function isCutShort({ active }: Session, { runId }: RunKey): boolean {
    return active !== undefined && active.runId !== runId;
  }

  async function recover(key: RunKey, session: Session): Promise<Session> {
    const active = session.active!;
    const record = await sessions.runs.find(key.principal, active.runId);
    if (!record) return sessions.update(key, { active: null });
    const { view } = await foldRun(sessions.runs, record, session);
    logger.warn(
      { threadId: key.threadId, runId: active.runId },
      "A run that was cut short was recovered.",
    );
    return sessions.update(key, {
      messages: markIncomplete(view.messages, session.messages),
      times: view.times,
      state: view.state,
      lastRunId: active.runId,
      active: null,
    });
  }

  // With a store in this process nothing here waits.
  async function prepare(asked: Launch, lease: Lease): Promise<LiveRun> {
    const { key, request, loaded, owner } = asked;
    const { maxMessages } = request;
    const finding = find(asked);
    const found = isPromise(finding) ? await finding : finding;
    const session = isCutShort(found, key) ? await recover(key, found) : found;
    const { checked } = asked;
    // Nobody has touched the thread since, as nearly always: what was found then is true.
    const prepared =
      checked?.session === session && asked.replaced === undefined
        ? checked.prepared
        : prepareInput(request.input, session, { owner, trust, clock });
    warnOf(key, prepared);
    const { pending, answers } = prepared;
    const own = resources && (await resources.of(key, asked.context.principal));
    // Before the agent says a word: what the user said is kept, also if the run then fails.
    const storing = sessions.update(key, {
      messages: prepared.history,
      maxMessages,
      metadata: request.metadata,
      pending,
      active: { runId: key.runId, offset: 0, open: nothing },
    });
    const stored = isPromise(storing) ? await storing : storing;
    const { input, history } =
      owner === "server" ? asStored(prepared, stored) : asRead(prepared, asked.replaced);
    const exposed = exposeSessionState?.(session);
    const { threadId, runId, agentId, principal, requestId, tools, files } = asked.context;
    return begin(
      {
        agent: own?.agent ?? loaded.agent,
        input,
        history,
        // Written out: what is added to a copy gets a new shape each time, and whoever reads it
        // afterwards is slow.
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
        },
        prologue: exposed === undefined ? nothing : [{ type: "STATE_SNAPSHOT", snapshot: exposed }],
        questions: request.clientTools === "inline" ? createQuestions(sessions, key) : undefined,
        sentHistory: asked.sentHistory,
      },
      new ThreadRun({ lease, history, maxMessages }, sessions, runs),
    );
  }

  function warnOf({ threadId, runId }: RunKey, { dropped }: PreparedInput): void {
    if (dropped.length === 0) return;
    logger.warn(
      { threadId, runId, dropped },
      "Messages that a client cannot vouch for were dropped; see trustClientHistory.",
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

  async function giveBack(lease: Lease, error: unknown): Promise<void> {
    const event = {
      type: EventType.RUN_ERROR,
      message: "The run did not begin.",
      code: "internal",
    };
    const terminal = { from: 1, to: 1, at: clock.now(), event };
    try {
      await sessions.runs.close(lease, terminal, "failed");
    } catch (second) {
      logger.error({ error: second, cause: error, runId: lease.runId }, "A lease was not freed.");
    }
  }

  return {
    check(asked) {
      const note = (session: Session): void => {
        const { request, owner } = asked;
        const prepared = prepareInput(request.input, session, { owner, trust, clock });
        asked.checked = { session, prepared };
      };
      const found = find(asked);
      return isPromise(found) ? found.then(note) : note(found);
    },
    async leased(asked, lease) {
      try {
        return await prepare(asked, lease);
      } catch (error) {
        await giveBack(lease, error);
        throw error;
      }
    },
    ephemeral(asked) {
      const { key, request, loaded, context } = asked;
      // Without a thread to hold it against, the input is believed as on one that nobody knows.
      const unknown = emptySession(key, loaded.id);
      const prepared = prepareInput(request.input, unknown, { owner: "client", trust, clock });
      warnOf(key, prepared);
      const { input, history } = asRead(prepared, asked.replaced);
      const { runMiddleware: middleware } = settings;
      const id = asideId();
      let place = 0;
      const run = new LiveRun(
        {
          agent: loaded.agent,
          input,
          history,
          middleware,
          context,
          onEnd: (ended) => {
            place = linger(runs, id, ended);
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

export function shuttingDown(): AgentError {
  return new AgentError("shutting-down", "The server is shutting down.");
}
