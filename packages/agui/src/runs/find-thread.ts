import { isPromise } from "@holodeck/agui-core/internal";
import { AgentError } from "@holodeck/agui-core";
import type { Awaitable, Session, SessionStore, ThreadKey } from "@holodeck/agui-core";
import { tooManySessions } from "@holodeck/agui-sessions/kit";
import { emptySession } from "./history/thread-record.ts";
import type { Launch } from "./to-launch.ts";

/** The session of a thread that does not exist, where the protocol and the options allow that it is made. */
export function unknownThread({ key, loaded, mayCreate }: Launch): Session {
  if (!mayCreate) throw noThread(key);
  return emptySession(key, loaded.id);
}

function noThread({ threadId }: ThreadKey): AgentError {
  return new AgentError("thread-not-found", `There is no thread "${threadId}".`);
}

/** Makes the session of a run, or returns the one that another request has made meanwhile. */
export function createThread(
  asked: Launch,
  { sessions, maxSessions }: { sessions: SessionStore; maxSessions: number | undefined },
): Awaitable<Session> {
  const { key, loaded, request, mayCreate } = asked;
  if (!mayCreate) throw noThread(key);
  const { metadata } = request;
  const agentId = loaded.id;
  const init = metadata ? { agentId, metadata, maxSessions } : { agentId, maxSessions };
  asked.isNew = true;
  try {
    const created = sessions.create(key, init);
    const made = maxSessions === undefined ? created : bounded(created, sessions, maxSessions);
    return isPromise(made) ? orMadeMeanwhile(made, asked, sessions) : made;
  } catch (error) {
    return madeMeanwhile(asked, sessions, error);
  }
}

// A store that was passed in may not know the limit: what it has made beyond it is removed.
function bounded(
  created: Awaitable<Session>,
  sessions: SessionStore,
  limit: number,
): Awaitable<Session> {
  if (isPromise(created)) return created.then((session) => bounded(session, sessions, limit));
  const count = sessions.count!();
  if (!isPromise(count) && count <= limit) return created;
  return removeBeyond(created, sessions, { count, limit });
}

async function removeBeyond(
  session: Session,
  sessions: SessionStore,
  { count, limit }: { readonly count: Awaitable<number>; readonly limit: number },
): Promise<Session> {
  if ((await count) <= limit) return session;
  await sessions.delete(session);
  throw tooManySessions(limit);
}

async function orMadeMeanwhile(
  made: PromiseLike<Session>,
  asked: Launch,
  sessions: SessionStore,
): Promise<Session> {
  try {
    return await made;
  } catch (error) {
    return madeMeanwhile(asked, sessions, error);
  }
}

// Another request for the same new thread may have been quicker.
async function madeMeanwhile(
  asked: Launch,
  sessions: SessionStore,
  error: unknown,
): Promise<Session> {
  const made = await sessions.get(asked.key);
  if (!made) throw error;
  asked.isNew = false;
  return made;
}
