import { AgentError, EventType, foldRun, LiveRun, toPending, ulid } from "@holodeck/agui-core";
import type {
  Lease,
  Message,
  RunCommand,
  RunContextInit,
  RunKey,
  RunRequest,
  RunSummary,
  Session,
} from "@holodeck/agui-core";
import type { LoadedAgent } from "./agents.ts";
import { createQuestions } from "./answer.ts";
import { prepareInput } from "./history.ts";
import type { PreparedInput } from "./history.ts";
import { liveId } from "./registry.ts";
import { emptySession, markIncomplete } from "./thread-record.ts";
import type { HostOptions } from "./registry.ts";

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
  /** What was found in the thread before it was taken. */
  checked?: { readonly session: Session; readonly prepared: PreparedInput } | undefined;
  /** The messages that its agent reads in another form than they were sent in. */
  readonly replaced?: ReadonlyMap<Message, Message> | undefined;
}

type RunInit = ConstructorParameters<typeof LiveRun>[0];

export interface Launcher {
  /** Throws what can be said before the thread is taken: an unknown thread, a forged approval. */
  check(launch: Launch): Promise<void>;
  /** Takes the thread's session along and makes the run. A failure gives the lease back. */
  leased(launch: Launch, lease: Lease): Promise<LiveRun>;
  /** A run without thread, lease or log. */
  ephemeral(launch: Launch): Promise<LiveRun>;
}

/** Makes runs: the session before, what is stored at the start, in the middle and at the end. */
export function createLauncher(options: HostOptions): Launcher {
  const { settings, runs, runSettings, resources, onRun } = options;
  const { sessions, logger, clock, exposeSessionState } = settings;
  const trust = settings.trustClientHistory;

  async function find({ key, loaded, request, mayCreate }: Launch): Promise<Session> {
    const session = await sessions.get(key);
    if (session) return session;
    if (!mayCreate) {
      throw new AgentError("thread-not-found", `There is no thread "${key.threadId}".`);
    }
    try {
      const { metadata = {} } = request;
      return await sessions.create(key, { agentId: loaded.id, metadata });
    } catch (error) {
      // Another request for the same new thread may have been quicker.
      const made = await sessions.get(key);
      if (made) return made;
      throw error;
    }
  }

  // The process that ran the last run died, or the run lost its lease: what its log has is not lost.
  async function recover(key: RunKey, session: Session): Promise<Session> {
    const { active } = session;
    if (!active || active.runId === key.runId) return session;
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

  async function prepare(launch: Launch, lease: Lease): Promise<RunInit> {
    const { key, request, loaded, owner } = launch;
    const { maxMessages } = request;
    const session = await recover(key, await find(launch));
    const { checked } = launch;
    // Nobody has touched the thread since, as nearly always: what was found then is true.
    const prepared =
      checked?.session === session && launch.replaced === undefined
        ? checked.prepared
        : prepareInput(request.input, session, { owner, trust, clock });
    warnOf(key, prepared);
    const { pending, answers } = prepared;
    const own = await resources?.of(key, launch.context.principal);
    // Before the agent says a word: what the user said is kept, also if the run then fails.
    const stored = await sessions.update(key, {
      messages: prepared.history,
      maxMessages,
      metadata: request.metadata ?? {},
      pending,
      active: { runId: key.runId, offset: 0, open: [] },
    });
    const { input, history } =
      owner === "server" ? asStored(prepared, stored) : asRead(prepared, launch);
    const exposed = exposeSessionState?.(session);
    const { threadId, runId, agentId, principal, requestId, tools, files } = launch.context;
    const { metadata } = stored;
    const data = own?.data;
    // Written out, here and in `launch`: what is added to a copy gets a new shape each time, and whoever
    // reads it afterwards is slow.
    return {
      agent: own?.agent ?? loaded.agent,
      input,
      history,
      middleware: settings.runMiddleware,
      context: {
        threadId,
        runId,
        agentId,
        principal,
        requestId,
        request: launch.context.request,
        tools,
        files,
        metadata,
        data,
        answers,
      },
      prologue: exposed === undefined ? [] : [{ type: "STATE_SNAPSHOT", snapshot: exposed }],
      questions: request.clientTools === "inline" ? createQuestions(sessions, key) : undefined,
      log: { runs: sessions.runs, lease },
      save: (summary) => save(launch, summary, history),
      checkpoint: ({ messages, state, times, offset, open }) => {
        const active = { runId: key.runId, offset, open };
        return sessions.update(key, { messages, maxMessages, state, times, active });
      },
    };
  }

  function warnOf({ threadId, runId }: RunKey, { dropped }: PreparedInput): void {
    if (dropped.length === 0) return;
    logger.warn(
      { threadId, runId, dropped },
      "Messages that a client cannot vouch for were dropped; see trustClientHistory.",
    );
  }

  async function save(
    { key, request: { maxMessages } }: Launch,
    summary: RunSummary,
    history: readonly Message[],
  ): Promise<void> {
    // The thread may have been deleted in the meantime; then there is nothing to keep.
    if (!(await sessions.get(key))) return;
    const { status, messages, state, times, metadata } = summary;
    await sessions.update(key, {
      messages: status === "finished" ? messages : markIncomplete(messages, history),
      maxMessages,
      times,
      state,
      metadata,
      pending: toPending(key.runId, summary, history),
      lastRunId: key.runId,
      active: null,
    });
  }

  function launch(init: RunInit, id: string): LiveRun {
    let forget: (() => void) | undefined;
    const run = new LiveRun(
      {
        agent: init.agent,
        input: init.input,
        history: init.history,
        middleware: init.middleware,
        context: init.context,
        prologue: init.prologue,
        questions: init.questions,
        log: init.log,
        save: init.save,
        checkpoint: init.checkpoint,
        onEnd: (ended) => {
          if (runs.live.get(id) === ended) runs.live.delete(id);
          forget = runs.lingering.add(ended);
        },
        onIdle: () => forget?.(),
      },
      runSettings,
    );
    runs.live.set(id, run);
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
    async check(asked) {
      const session = await find(asked);
      const { request, owner } = asked;
      asked.checked = {
        session,
        prepared: prepareInput(request.input, session, { owner, trust, clock }),
      };
    },
    async leased(asked, lease) {
      try {
        const init = await prepare(asked, lease);
        let run: LiveRun | undefined = undefined;
        const forget = sessions.runs.commands(lease, (command) => {
          if (!run) return;
          if (command.type === "stop") obey(run, command);
          else run.answer(command);
        });
        run = launch(init, liveId(lease));
        void run.done.then(forget);
        return run;
      } catch (error) {
        await giveBack(lease, error);
        throw error;
      }
    },
    async ephemeral(asked) {
      const { key, request, loaded, context } = asked;
      // Without a thread to hold it against, the input is believed as on one that nobody knows.
      const unknown = emptySession(key, loaded.id);
      const prepared = prepareInput(request.input, unknown, {
        owner: "client",
        trust,
        clock,
      });
      warnOf(key, prepared);
      const { input, history } = asRead(prepared, asked);
      const { runMiddleware: middleware } = settings;
      const init = { agent: loaded.agent, input, history, middleware, context };
      // Beside its thread a run may have the id of one in it, and must not take its place.
      return launch(init, ulid());
    },
  };
}

function obey(run: LiveRun, { reason, ifUnfollowed }: RunCommand & { type: "stop" }): void {
  if (ifUnfollowed && (run.followers > 0 || !run.wasFollowed)) return;
  run.abort(reason === "replaced" ? replaced() : stopped());
}

// A thread that the server owns may have become too long: what the store let go of is gone for all.
function asStored(
  { input }: PreparedInput,
  { messages }: Session,
): Pick<PreparedInput, "input" | "history"> {
  const spoken = messages.filter(({ role }) => role !== "activity");
  return { input: { ...input, messages: spoken }, history: messages };
}

// The thread keeps what its client sent; only the agent reads files as text.
function asRead(
  { input, history }: PreparedInput,
  { replaced }: Launch,
): Pick<PreparedInput, "input" | "history"> {
  if (!replaced?.size) return { input, history };
  const messages = input.messages.map((message) => replaced.get(message) ?? message);
  return { input: { ...input, messages }, history };
}

export function shuttingDown(): AgentError {
  return new AgentError("shutting-down", "The server is shutting down.");
}

export function stopped(): AgentError {
  return new AgentError("stopped", "The run was stopped.");
}

function replaced(): AgentError {
  return new AgentError("replaced", "A new run took its thread.");
}
