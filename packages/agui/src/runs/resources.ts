import { isRequestBound, withDeadline } from "@holodeck/agui-core/internal";
import type {
  AgentLike,
  Awaitable,
  Clock,
  Logger,
  Principal,
  SessionStore,
  ThreadKey,
} from "@holodeck/agui-core";
import { storeWith } from "./store/store-with.ts";

/** What one session has for itself, for as long as it lives. */
export interface SessionResources {
  /** Answers in place of the handler's agent. */
  agent?: AgentLike;
  /** Handed to the agent as `context.session.data`. */
  data?: unknown;
  /** Called once: on delete, expiry and close. */
  dispose?(): Awaitable<void>;
}

export type CreateSession = (
  threadId: string,
  principal: Principal | undefined,
) => Awaitable<SessionResources>;

export interface Resources {
  /** The resources of a thread, made on first use. */
  of(key: ThreadKey, principal: Principal | undefined): Promise<SessionResources>;
  release(key: ThreadKey): Promise<void>;
  /** All of them, at once. */
  close(): Promise<void>;
}

interface Held {
  readonly key: ThreadKey;
  readonly made: Promise<SessionResources>;
  isMade: boolean;
}

const sweepMs = 60_000;
const disposeMs = 5_000;

/** Per-session resources. They outlive requests: no request's signal ever ends them. */
export function createResources(
  create: CreateSession,
  options: { sessions: SessionStore; clock: Clock; logger: Logger },
): Resources {
  const { sessions, clock, logger } = options;
  const held = new Map<string, Held>();
  let timer: unknown;
  let sweptAt = clock.now();

  // A store does not report expired sessions; a check once a minute finds them.
  function arm(): void {
    if (isRequestBound) return sweepIfDue();
    if (held.size === 0 || timer !== undefined) return;
    timer = clock.setTimeout(() => {
      timer = undefined;
      void sweep();
    }, sweepMs);
  }

  // Where no timer outlives its request, a request that needs resources looks.
  function sweepIfDue(): void {
    if (clock.now() - sweptAt < sweepMs) return;
    sweptAt = clock.now();
    void sweep();
  }

  async function sweep(): Promise<void> {
    for (const { key } of held.values()) {
      try {
        if (!(await sessions.get(key))) await release(key);
      } catch (error) {
        logger.warn({ error, threadId: key.threadId }, "A session could not be looked up.");
      }
    }
    arm();
  }

  async function release(key: ThreadKey): Promise<void> {
    const id = idOf(key);
    const entry = held.get(id);
    if (!entry) return;
    held.delete(id);
    try {
      const { dispose } = await entry.made;
      const late = (): Error => new Error(`dispose() took longer than ${disposeMs} ms.`);
      await withDeadline(() => dispose?.(), { ms: disposeMs, clock, late });
    } catch (error) {
      logger.error({ error, threadId: key.threadId }, "A session could not be disposed of.");
    }
  }

  return {
    of(key, principal) {
      const id = idOf(key);
      const entry = held.get(id);
      // A thread has one run at a time: what is not made then was left by a request that ended.
      if (entry && (entry.isMade || !isRequestBound)) return entry.made;
      const made = (async () => create(key.threadId, principal))();
      const next: Held = {
        key: { principal: key.principal, threadId: key.threadId },
        made,
        isMade: false,
      };
      made.then(
        () => {
          next.isMade = true;
        },
        // A failed attempt is not kept: the next run may succeed.
        () => held.delete(id),
      );
      held.set(id, next);
      arm();
      return made;
    },
    release,
    async close() {
      if (timer !== undefined) clock.clearTimeout(timer);
      await Promise.all([...held.values()].map(({ key }) => release(key)));
    },
  };
}

/** Wraps the store to notify the resources when a session is deleted. */
export function withResources(store: SessionStore, resources: Resources): SessionStore {
  return storeWith(store, {
    async delete(key) {
      const existed = await store.delete(key);
      await resources.release(key);
      return existed;
    },
  });
}

function idOf(key: ThreadKey): string {
  return JSON.stringify([key.principal, key.threadId]);
}
