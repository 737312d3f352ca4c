import { isPromise } from "@holodeck/agui-core/internal";
import { AgentError } from "@holodeck/agui-core";
import type { Awaitable, RunKey, Session, SessionStore } from "@holodeck/agui-core";
import type { Launch } from "./launch.ts";

/** The session of the thread of a run. It is made when there is none, unless the protocol or an option forbids that. */
export function findThread(asked: Launch, sessions: SessionStore): Awaitable<Session> {
  const found = sessions.get(asked.key);
  if (isPromise(found)) return found.then((session) => session ?? create(asked, sessions));
  return found ?? create(asked, sessions);
}

function create(asked: Launch, sessions: SessionStore): Awaitable<Session> {
  const { key, loaded, request, mayCreate } = asked;
  if (!mayCreate) {
    throw new AgentError("thread-not-found", `There is no thread "${key.threadId}".`);
  }
  const { metadata } = request;
  const agentId = loaded.id;
  try {
    const made = sessions.create(key, metadata ? { agentId, metadata } : { agentId });
    return isPromise(made)
      ? made.then(undefined, (error: unknown) => madeMeanwhile(key, sessions, error))
      : made;
  } catch (error) {
    return madeMeanwhile(key, sessions, error);
  }
}

// Another request for the same new thread may have been quicker.
async function madeMeanwhile(
  key: RunKey,
  sessions: SessionStore,
  error: unknown,
): Promise<Session> {
  const made = await sessions.get(key);
  if (made) return made;
  throw error;
}
