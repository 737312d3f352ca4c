import { AgentError } from "@holodeck/agui-core";
import {
  createRunContext,
  isPromise,
  isRequestBound,
  nextTurn,
} from "@holodeck/agui-core/internal";
import type {
  ActiveRun,
  Awaitable,
  Call,
  Lease,
  Protocol,
  ProtocolHost,
  RunRecord,
  RunRequest,
  RunTarget,
} from "@holodeck/agui-core";
import type { LiveRun, RunContextInit } from "@holodeck/agui-core/internal";
import { acquire, threadBusy } from "./acquire.ts";
import { agentNotFound } from "./agents.ts";
import { toActive } from "./active-run.ts";
import { answerQuestion } from "./client-tool-answers.ts";
import { toForeign } from "./foreign-run.ts";
import { createLauncher } from "./launch.ts";
import type { Launch } from "./to-launch.ts";
import { toLaunch } from "./to-launch.ts";
import { assertNewMessages } from "./history/new-messages.ts";
import { createQueue } from "./queue.ts";
import { runExists } from "./past-run.ts";
import { readFiles } from "./read-files.ts";
import { liveId } from "./registry.ts";
import { repeat } from "./repeat.ts";
import { createForsakenCheck } from "./recovery/close-forsaken.ts";
import { createServerTools } from "./recovery/server-tools.ts";
import { noteSubject } from "../http/call.ts";
import { stopFirst } from "./stop-first.ts";
import { stopped } from "./thread-run.ts";
import type { HostOptions } from "./registry.ts";

/** What a protocol may ask of the handler: start a run, attach to one, send it a command. */
export function createHost(options: HostOptions): (protocol: Protocol) => ProtocolHost {
  const { settings, agents, runs, runSettings, info, discover } = options;
  const { sessions, limits, logger, debug, clock } = settings;
  const admitting = settings.handlerMiddleware.filter((one) => one.admit !== undefined);
  const launcher = createLauncher(options);
  const toolsWith = createServerTools(settings);
  const queue = createQueue(settings, runSettings);
  const closeForsaken = createForsakenCheck(runs, settings);
  const acquiring = {
    runs: sessions.runs,
    policy: settings.onBusy,
    clock,
    patienceMs: limits.appendMs,
    mayBeUnfollowed: settings.onDisconnect !== "abort",
    confirm: launcher.confirm,
  };
  const { patienceMs } = acquiring;
  const { readable } = options;
  const stoppingFirst = stopFirst(readable, { clock, patienceMs });
  const repeating = { sessions: readable, attach: toResumed };
  const newMessageRules = { limits, sessions, hasProcessor: settings.files !== undefined };
  let starting = 0;

  async function start(protocol: Protocol, call: Call, request: RunRequest): Promise<ActiveRun> {
    const { threadId, runId } = request.input;
    const loaded = agents.find(request.agentId);
    noteSubject(call, { threadId, runId, agentId: loaded?.id });
    closeForsaken();
    if (!loaded) throw agentNotFound(request.agentId);
    if (runs.live.size + starting >= limits.maxConcurrentRuns) {
      throw new AgentError(
        "capacity-exceeded",
        `The server is at its limit of ${limits.maxConcurrentRuns} concurrent runs.`,
        { retryAfter: 5 },
      );
    }
    starting++;
    try {
      const launch = toLaunch({ protocol, call, request, loaded }, settings);
      const asserting =
        protocol.history === "server"
          ? undefined
          : assertNewMessages(request, launch.key, newMessageRules);
      if (asserting) await asserting;
      if (admitting.length > 0) await admit(request, { ...launch.context, logger });
      const checking = request.ephemeral ? undefined : launcher.check(launch);
      if (checking) await checking;
      if (launch.past) {
        const known = await repeat({ launch, call }, repeating);
        if (known) return known;
        launch.past = undefined;
        launch.isRetry = true;
        await launcher.check(launch);
      }
      if (!settings.files) {
        const begun = begin(launch, call, undefined);
        return isPromise(begun) ? await begun : begun;
      }
      const read = await readFiles(launch, call, settings);
      try {
        return await begin(read.launch, call, () => read.release());
      } catch (error) {
        read.release();
        throw error;
      }
    } finally {
      starting--;
    }
  }

  // With a store in this process nothing here waits.
  function begin(
    launch: Launch,
    call: Call,
    release: (() => void) | undefined,
  ): Awaitable<ActiveRun> {
    const record = toRecord(launch);
    const asked = { launch, call, record, release };
    if (launch.request.ephemeral) return toAnswer(asked, launcher.ephemeral(launch));
    const opening = take(launch, record);
    return isPromise(opening) ? opening.then((lease) => lead(asked, lease)) : lead(asked, opening);
  }

  function lead(asked: AskedRun, lease: Lease | { busy: RunRecord }): Awaitable<ActiveRun> {
    if ("busy" in lease) return occupied(asked, lease.busy);
    const run = launcher.leased(asked.launch, lease);
    return isPromise(run) ? run.then((made) => toAnswer(asked, made)) : toAnswer(asked, run);
  }

  function toAnswer({ launch, record, call, release }: AskedRun, run: LiveRun): ActiveRun {
    if (release) void run.done.then(release);
    // Until the run is over and its agent has cleaned up, whatever the client does.
    launch.platform.waitUntil?.(run.done.then(nextTurn));
    return toActive(record, run, call);
  }

  function take(
    launch: Launch,
    { agentId, protocolVersion }: RunRecord,
  ): ReturnType<typeof acquire> {
    return acquire(launch, { agentId, protocolVersion }, acquiring);
  }

  async function occupied(asked: AskedRun, busy: RunRecord): Promise<ActiveRun> {
    const { launch, call, record, release } = asked;
    if (busy.runId === record.runId) {
      const known = await repeat({ launch, call, record: busy }, repeating);
      if (!known) throw runExists(record.runId);
      release?.();
      return known;
    }
    if (settings.onBusy !== "queue") throw threadBusy(record.threadId);
    return queue.enter(record, {
      client: call,
      async acquire() {
        const lease = await take(launch, record);
        // A copy of it was quicker: the head of this answer is out, so it ends with an error.
        if ("busy" in lease && lease.busy.runId === record.runId) throw runExists(record.runId);
        return lease;
      },
      async begin(granted) {
        const run = await launcher.leased(launch, granted);
        launch.platform.waitUntil?.(run.done.then(nextTurn));
        return run;
      },
      over: release ?? (() => {}),
    });
  }

  async function admit({ input }: RunRequest, init: RunContextInit): Promise<void> {
    const context = createRunContext(init);
    for (const one of admitting) await one.admit?.(input, context, { sessions });
  }

  async function locate(call: Call, target: RunTarget): Promise<RunRecord | undefined> {
    noteSubject(call, target);
    closeForsaken();
    const principal = call.principal?.id ?? "";
    const record =
      "runId" in target
        ? await sessions.runs.find(principal, target.runId)
        : await sessions.runs.active({ principal, threadId: target.threadId });
    if (record) noteSubject(call, record);
    // A thread without a run may have lost it.
    else if ("threadId" in target) {
      await readable.get({ principal, threadId: target.threadId });
    }
    return record;
  }

  async function attach(call: Call, target: RunTarget): Promise<ActiveRun | undefined> {
    const record = await locate(call, target);
    if (!record) return undefined;
    const run = liveOf(record);
    if (run) return toActive(record, run, call);
    // The session first, then the log: what the run has put into it by then is not folded again.
    const session = await sessions.get(record);
    const isUnsaved = record.status !== "running" && session?.active?.runId === record.runId;
    if (isUnsaved) await readable.get(record);
    return toForeign({ runs: readable.runs, record, session, settings: runSettings });
  }

  // A request cannot write to the client of another where timers belong to requests: the log is between them.
  function liveOf(record: RunRecord): LiveRun | undefined {
    return isRequestBound ? undefined : runs.live.get(liveId(record));
  }

  function toResumed(record: RunRecord, call: Call): ActiveRun {
    const run = liveOf(record);
    if (run) return toActive(record, run, call);
    const { runs: log } = readable;
    return toForeign({ runs: log, record, session: undefined, settings: runSettings });
  }

  return (protocol) => ({
    sessions: stoppingFirst,
    logger,
    limits,
    debug,
    hasAuthenticate: settings.authenticate !== undefined,
    files: settings.files,
    serverTools: (agentId) => toolsWith((agents.find(agentId) ?? agents.first).agent),
    info,
    discover,
    start: (call, request) => start(protocol, call, request),
    attach,
    note: noteSubject,
    async send(call, target, command) {
      const record = await locate(call, target);
      if (command.type === "tool-result") return answerQuestion(sessions, record, command);
      if (record?.status === "running") return readable.runs.send(record, command);
      if (record?.status === "lost") await readable.get(record);
      return command.type === "stop" && stopEphemeral(call, target);
    },
  });

  // An ephemeral run is in no log, so no other process can have it.
  function stopEphemeral(call: Call, target: RunTarget): boolean {
    const principal = call.principal?.id ?? "";
    for (const [id, run] of runs.live.entries()) {
      const { threadId, runId } = run.context;
      const isMeant = "runId" in target ? target.runId === runId : target.threadId === threadId;
      const owner = run.context.principal?.id ?? "";
      if (!isMeant || owner !== principal || id === liveId({ principal, runId })) continue;
      run.post(() => run.abort(stopped()));
      return true;
    }
    return false;
  }
}

/** A run that takes its thread. */
interface AskedRun {
  readonly launch: Launch;
  readonly call: Call;
  readonly record: RunRecord;
  /** Lets go of the files of its request. */
  readonly release: (() => void) | undefined;
}

function toRecord({ key, request, loaded }: Launch): RunRecord {
  return {
    principal: key.principal,
    threadId: key.threadId,
    runId: key.runId,
    format: 1,
    agentId: loaded.id,
    protocolVersion: request.protocolVersion,
    status: "running",
    first: 1,
    last: 0,
  };
}
