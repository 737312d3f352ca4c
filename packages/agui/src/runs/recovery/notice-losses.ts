import { EventType, isAgentError } from "@holodeck/agui-core";
import { isPromise, isRequestBound } from "@holodeck/agui-core/internal";
import type {
  Awaitable,
  ListedSession,
  LogEntry,
  RunLog,
  Session,
  SessionStore,
  ThreadKey,
} from "@holodeck/agui-core";
import { toListed } from "@holodeck/agui-sessions/kit";
import type { Agents } from "../agents.ts";
import type { Settings } from "../../options/options.ts";
import { recoverForReader } from "./recover-thread.ts";
import { liveId } from "../registry.ts";
import type { RunRegistry } from "../registry.ts";
import { storeWith } from "../store/store-with.ts";
import { createServerTools } from "./server-tools.ts";

// One conflict is another reader, or the next run; so many in a row mean that the thread is in use.
const attempts = 5;

/**
 * The store for readers: when one notices that the last run of a thread is lost, what that run had sent is folded into
 * the thread before the reader receives it.
 */
export function noticeLosses(options: {
  settings: Settings;
  agents: Agents;
  runs: RunRegistry;
}): SessionStore {
  const { settings, agents, runs } = options;
  const { sessions, logger } = settings;
  const serverTools = createServerTools(settings);
  /** Recoveries in progress: many may read one thread at the same time. */
  const recovering = new Map<string, Promise<Session>>();

  // Where a run can end with its request, its log shows whether it goes on.
  function isLive(principal: string, runId: string): boolean {
    return !isRequestBound && runs.live.get(liveId({ principal, runId })) !== undefined;
  }

  function recovered(session: Session): Awaitable<Session> {
    const { principal, active } = session;
    // A run of this process, as nearly always.
    if (!active || isLive(principal, active.runId)) return session;
    const id = JSON.stringify([principal, session.threadId, session.version]);
    let work = isRequestBound ? undefined : recovering.get(id);
    if (!work) {
      work = recover(session).finally(() => recovering.delete(id));
      recovering.set(id, work);
    }
    return work;
  }

  async function recover(session: Session): Promise<Session> {
    let current = session;
    try {
      for (let attempt = 0; attempt < attempts; attempt++) {
        const next = await recoverOnce(current);
        if (next) return next;
        const again = await sessions.get(current);
        if (!again) return current;
        current = again;
      }
    } catch (error) {
      // What was read is valid without it; the next reader tries again.
      const { threadId, active } = session;
      logger.warn(
        { error, threadId, runId: active?.runId },
        "An interrupted run could not be recovered.",
      );
    }
    return current;
  }

  // Returns undefined when the thread was written to meanwhile.
  async function recoverOnce(session: Session): Promise<Session | undefined> {
    const { principal, active, agentId } = session;
    if (!active) return session;
    const record = await sessions.runs.find(principal, active.runId);
    // Without its log there is nothing to add; past its end, it was added.
    if (!record || record.status === "running" || active.offset >= record.last) return session;
    const agent = agents.all.find(({ id }) => id === agentId)?.agent;
    try {
      return await recoverForReader(session, record, {
        settings,
        serverTools: serverTools(agent),
      });
    } catch (error) {
      if (isAgentError(error) && error.code === "thread-busy") return undefined;
      throw error;
    }
  }

  function get(key: ThreadKey): Awaitable<Session | undefined> {
    const found = sessions.get(key);
    if (isPromise(found)) return found.then((session) => session && recovered(session));
    return found && recovered(found);
  }

  // A command that no process receives may be for a run that is lost.
  async function delivered(key: ThreadKey, sent: Awaitable<boolean>): Promise<boolean> {
    const isSent = await sent;
    if (!isSent) await get(key);
    return isSent;
  }

  async function list(
    ...query: Parameters<SessionStore["list"]>
  ): Promise<{ items: ListedSession[]; next?: string | undefined }> {
    const page = await sessions.list(...query);
    return { ...page, items: await Promise.all(page.items.map(listed)) };
  }

  async function listed(item: ListedSession): Promise<ListedSession> {
    const { principal, threadId, activeRunId: runId } = item;
    if (runId === undefined || isLive(principal, runId)) return item;
    try {
      const record = await log.find(principal, runId);
      if (!record || record.status === "running") return item;
      const session = await get(item);
      return session ? toListed(session) : item;
    } catch (error) {
      logger.warn({ error, threadId, runId }, "An interrupted run could not be recovered.");
      return item;
    }
  }

  async function* follow(
    ...[key, after, signal]: Parameters<RunLog["follow"]>
  ): AsyncGenerator<readonly LogEntry[]> {
    for await (const entries of log.follow(key, after, signal)) {
      // A client that receives the end finds its thread updated.
      if (isLost(entries)) await get(key);
      yield entries;
    }
  }

  const log = sessions.runs;
  const noticing: RunLog = {
    open: (key, init) => log.open(key, init),
    append: (lease, entries) => log.append(lease, entries),
    close: (lease, terminal, status) => log.close(lease, terminal, status),
    async find(principal, runId) {
      const record = await log.find(principal, runId);
      if (record?.status === "lost") await get(record);
      return record;
    },
    async active(key) {
      const record = await log.active(key);
      if (!record) await get(key);
      return record;
    },
    async read(key, after, limit) {
      const entries = await log.read(key, after, limit);
      if (isLost(entries)) await get(key);
      return entries;
    },
    follow,
    watchers: (key) => log.watchers(key),
    send: (key, command) => delivered(key, log.send(key, command)),
    requestStop: (key) => delivered(key, log.requestStop(key)),
    commands: (lease, on) => log.commands(lease, on),
  };

  return storeWith(sessions, { get, list, runs: noticing });
}

function isLost(entries: readonly LogEntry[]): boolean {
  const event = entries.at(-1)?.event;
  return event?.type === EventType.RUN_ERROR && event.code === "run-lost";
}
