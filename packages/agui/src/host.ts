import {
  AgentError,
  assertReadable,
  createRunContext,
  EventType,
  LiveRun,
  replayReply,
  ulid,
} from "@holodeck/agui-core";
import type {
  ActiveRun,
  Call,
  Encoder,
  HandlerMiddleware,
  Lease,
  Pending,
  ProtocolHost,
  Reply,
  RunContextInit,
  RunKey,
  RunRecord,
  RunRequest,
  RunSettings,
  RunSummary,
  RunTarget,
  Session,
} from "@holodeck/agui-core";
import type { Agents, LoadedAgent } from "./agents.ts";
import type { Settings } from "./options.ts";

/** The runs of this process, by principal and run id. */
export interface RunRegistry {
  readonly live: Map<string, LiveRun>;
  /** Ended, but with clients that have not taken everything yet. */
  readonly lingering: Set<LiveRun>;
}

export interface HostOptions {
  readonly settings: Settings;
  readonly agents: Agents;
  readonly runs: RunRegistry;
  readonly runSettings: RunSettings;
  readonly info: ProtocolHost["info"];
  /** False: the handler has begun to close. */
  readonly onRun: () => boolean;
}

/** What protocols may ask of the handler: start a run, attach to one, send it a command. */
export function createHost(options: HostOptions): ProtocolHost {
  const { settings, agents, runs, runSettings, info, onRun } = options;
  const { sessions, limits, logger, debug, tools, clock } = settings;
  const admitting = settings.handlerMiddleware.filter((one) => one.admit !== undefined);

  // Runs that are being started, and count as if they were going.
  let arriving = 0;

  async function start(call: Call, request: RunRequest): Promise<ActiveRun> {
    const loaded = agents.get(request.agentId);
    if (runs.live.size + arriving >= limits.maxConcurrentRuns) {
      throw new AgentError(
        "capacity-exceeded",
        `No more than ${limits.maxConcurrentRuns} runs at once.`,
        { retryAfter: 5 },
      );
    }
    arriving++;
    try {
      return await arrive(call, request, loaded);
    } finally {
      arriving--;
    }
  }

  async function arrive(call: Call, request: RunRequest, loaded: LoadedAgent): Promise<ActiveRun> {
    const { input } = request;
    const context: RunContextInit = {
      threadId: input.threadId,
      runId: input.runId,
      agentId: loaded.id,
      principal: call.principal,
      requestId: call.requestId,
      request: () => call.request,
      tools,
    };
    await admit(admitting, request, { ...context, logger });
    if (request.ephemeral) return begin({ call, request, loaded, context });
    const key = toKey(call, input);
    await ensureSession(key, loaded.id);
    const lease = await acquire(key, { loaded, protocolVersion: request.protocolVersion });
    try {
      // Only now: the run that held the thread until here has changed it at its end.
      const session = await sessions.get(key);
      return begin({ call, request, loaded, context, lease, ...(session && { session }) });
    } catch (error) {
      await release(lease);
      throw error;
    }
  }

  async function ensureSession(key: RunKey, agentId: string): Promise<void> {
    if (await sessions.get(key)) return;
    try {
      await sessions.create(key, { agentId });
    } catch (error) {
      // Another request for the same new thread may have been quicker.
      if (!(await sessions.get(key))) throw error;
    }
  }

  async function release(lease: Lease): Promise<void> {
    const event = {
      type: EventType.RUN_ERROR,
      message: "The run did not begin.",
      code: "internal",
    };
    try {
      await sessions.runs.close(lease, { from: 1, to: 1, at: clock.now(), event }, "failed");
    } catch (error) {
      logger.warn({ error, runId: lease.runId }, "The lease was not freed.");
    }
  }

  async function acquire(
    key: RunKey,
    init: { loaded: LoadedAgent; protocolVersion: string | undefined },
  ): Promise<Lease> {
    const open = { agentId: init.loaded.id, protocolVersion: init.protocolVersion };
    let lease = await sessions.runs.open(key, open);
    if ("busy" in lease) {
      // A run that nobody follows any more yields to the one somebody wants to see.
      const holder = runs.live.get(liveId(lease.busy));
      if (holder && holder.followers === 0 && holder.wasFollowed) {
        holder.abort(new AgentError("replaced", "A new run took its thread."));
        await holder.done;
        lease = await sessions.runs.open(key, open);
      }
    }
    if (!("busy" in lease)) return lease;
    const { busy } = lease;
    throw busy.runId === key.runId
      ? new AgentError("run-exists", `Run "${key.runId}" is running already.`)
      : new AgentError("thread-busy", `Thread "${key.threadId}" is busy with another run.`);
  }

  interface Beginning {
    call: Call;
    request: RunRequest;
    loaded: LoadedAgent;
    context: RunContextInit;
    session?: Session;
    lease?: Lease;
  }

  function begin({ call, request, loaded, context, session, lease }: Beginning): ActiveRun {
    const { input } = request;
    const state = hasState(input.state) ? input.state : (session?.state ?? input.state ?? {});
    // Beside its thread a run may have the id of one in it, and must not take its place.
    const id = lease ? liveId(lease) : ulid();
    const opening = session ? prologue(settings, session) : [];
    let run: LiveRun | undefined = undefined;
    const forget =
      lease &&
      sessions.runs.commands(lease, (command) => {
        if (command.type === "stop") run?.abort(stopped());
      });
    run = new LiveRun(
      {
        agent: loaded.agent,
        input: { ...input, state },
        middleware: settings.runMiddleware,
        context: { ...context, ...(session ? { metadata: session.metadata } : {}) },
        prologue: opening,
        log: lease && { runs: sessions.runs, lease },
        save: lease && ((summary) => save(toKey(call, input), summary)),
        onEnd: (ended) => {
          if (runs.live.get(id) === ended) runs.live.delete(id);
          runs.lingering.add(ended);
          forget?.();
        },
        onIdle: (idle) => runs.lingering.delete(idle),
      },
      runSettings,
    );
    runs.live.set(id, run);
    // Its request came in before the doors were closed; its client gets an end all the same.
    if (!onRun()) run.abort(shuttingDown());
    const record: RunRecord = {
      ...toKey(call, input),
      format: 1,
      agentId: loaded.id,
      protocolVersion: request.protocolVersion,
      status: "running",
      first: 1,
      last: 0,
    };
    return toActive(record, run);
  }

  async function save(key: RunKey, summary: RunSummary): Promise<void> {
    // The thread may have been deleted in the meantime; then there is nothing to keep.
    if (!(await sessions.get(key))) return;
    await sessions.update(key, {
      messages: summary.messages,
      state: summary.state,
      metadata: summary.metadata,
      pending: toPending(key.runId, summary),
      lastRunId: key.runId,
    });
  }

  async function locate(call: Call, target: RunTarget): Promise<RunRecord | undefined> {
    const principal = call.principal?.id ?? "";
    return "runId" in target
      ? sessions.runs.find(principal, target.runId)
      : sessions.runs.active({ principal, threadId: target.threadId });
  }

  return {
    sessions,
    logger,
    limits,
    debug,
    info,
    start,
    async attach(call, target) {
      const record = await locate(call, target);
      if (!record) return undefined;
      const run = runs.live.get(liveId(record));
      if (run) return toActive(record, run);
      return {
        record,
        stream: (encoder, from, headers) =>
          replayReply(
            { encoder, headers: { ...headers } },
            {
              runs: sessions.runs,
              record,
              after: from === "start" ? 0 : from,
              settings: runSettings,
            },
          ),
        collect: () =>
          Promise.reject(new AgentError("run-not-found", `Run "${record.runId}" is not running.`)),
      };
    },
    async send(call, target, command) {
      const record = await locate(call, target);
      return record ? sessions.runs.send(record, command) : false;
    },
  };
}

async function admit(
  middleware: readonly HandlerMiddleware[],
  { input }: RunRequest,
  init: RunContextInit,
): Promise<void> {
  if (middleware.length === 0) return;
  const context = createRunContext(init);
  for (const one of middleware) await one.admit?.(input, context);
}

function toActive(record: RunRecord, run: LiveRun): ActiveRun {
  return {
    record,
    stream(encoder: Encoder, from, headers): Reply {
      const after = from === "start" ? 0 : from;
      assertReadable(record, encoder.key === undefined ? 0 : after);
      return {
        status: 200,
        headers: { "content-type": encoder.contentType, ...encoder.headers, ...headers },
        stream: {
          attach: (sink) => run.follow(encoder, sink, after),
          discard: () => run.discard(),
          done: run.done,
        },
      };
    },
    collect: () => run.collect(),
  };
}

function prologue(settings: Settings, session: Session): unknown[] {
  if (!settings.exposeSessionState) return [];
  const snapshot = settings.exposeSessionState(session);
  return snapshot === undefined ? [] : [{ type: "STATE_SNAPSHOT", snapshot }];
}

function toPending(runId: string, { terminal }: RunSummary): Pending[] {
  const outcome = terminal.outcome as
    | { pendingToolCallIds?: string[]; interrupts?: { id: string }[] }
    | undefined;
  return [
    ...(outcome?.pendingToolCallIds ?? []).map((id): Pending => ({
      id,
      kind: "tool",
      runId,
      value: {},
    })),
    ...(outcome?.interrupts ?? []).map((interrupt): Pending => ({
      id: interrupt.id,
      kind: "interrupt",
      runId,
      value: interrupt,
    })),
  ];
}

function hasState(state: unknown): boolean {
  if (state === undefined || state === null) return false;
  // A fresh client sends `{}`; that must not wipe what the thread has.
  return typeof state !== "object" || Object.keys(state).length > 0;
}

function toKey(call: Call, { threadId, runId }: { threadId: string; runId: string }): RunKey {
  return { principal: call.principal?.id ?? "", threadId, runId };
}

export function liveId(key: { principal: string; runId: string }): string {
  return JSON.stringify([key.principal, key.runId]);
}

export function shuttingDown(): AgentError {
  return new AgentError("shutting-down", "The server is shutting down.");
}

export function stopped(): AgentError {
  return new AgentError("stopped", "The run was stopped.");
}
