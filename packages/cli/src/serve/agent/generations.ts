import { processClock } from "../../shared/process-clock.ts";
import { withDeadline } from "@holodeck/agui-core/internal";
import { createAgentHandler } from "@holodeck/agui";
import { defaultLimits } from "@holodeck/agui-core";
import type {
  AgentHandler,
  AgentHandlerOptions,
  Limits,
  Logger,
  SessionStore,
} from "@holodeck/agui";
import type { AgentModule } from "../../shared/loaded-agent.ts";
import type { StoreChoice } from "./choose-store.ts";

/** An agent as its file was at one time. */
interface Generation {
  readonly loaded: AgentModule;
  readonly handler: AgentHandler;
  readonly options: AgentHandlerOptions;
  /** Where its threads are kept, for people. */
  readonly store: string;
  /** Requests that are not answered yet. */
  busy: number;
}

/** The agent that is served, and those before it whose runs have not ended. */
export interface Generations {
  readonly current: Generation;
  readonly limits: Limits;
  /** Requests and runs that are not done. */
  readonly open: number;
  use<T>(work: (handler: AgentHandler) => Promise<T>): Promise<T>;
  /** Makes the agent ready, and only then serves it. */
  replace(loaded: AgentModule): Promise<void>;
  close(timeoutMs: number): Promise<void>;
}

export interface GenerationsOptions {
  readonly toOptions: (loaded: AgentModule, sessions: SessionStore) => Promise<AgentHandlerOptions>;
  readonly stores: Pick<StoreChoice, "of">;
  readonly logger: Logger;
}

const lookMs = 100;
const agentCloseMs = 1_000;

/**
 * Serves one agent after another at one address, without interrupting active runs of the previous one.
 */
export async function createGenerations(
  first: AgentModule,
  { toOptions, stores, logger }: GenerationsOptions,
): Promise<Generations> {
  const retired = new Map<Generation, NodeJS.Timeout>();
  let current = await make(first);

  async function make(loaded: AgentModule): Promise<Generation> {
    const { sessions, name } = await stores.of(loaded.options);
    const options = await toOptions(loaded, sessions);
    const handler = createAgentHandler(loaded.agent, options);
    return { loaded, options, handler, store: name, busy: 0 };
  }

  async function end({ handler, loaded }: Generation, timeoutMs?: number): Promise<void> {
    try {
      await handler.close(timeoutMs === undefined ? {} : { timeoutMs });
      await within(loaded.close?.(), agentCloseMs);
    } catch (error) {
      logger.error({ error }, "The agent could not be closed.");
    }
  }

  function retire(generation: Generation): void {
    // There is no event for the end of the last run, so it is polled.
    const timer = setInterval(() => {
      if (openIn(generation) > 0) return;
      clearInterval(timer);
      retired.delete(generation);
      void end(generation);
    }, lookMs);
    timer.unref();
    retired.set(generation, timer);
  }

  return {
    get current() {
      return current;
    },
    get limits() {
      return { ...defaultLimits, ...current.options.limits };
    },
    get open() {
      return [current, ...retired.keys()].reduce((sum, one) => sum + openIn(one), 0);
    },
    async use(work) {
      const generation = current;
      generation.busy++;
      try {
        return await work(generation.handler);
      } finally {
        generation.busy--;
      }
    },
    async replace(loaded) {
      let next: Generation | undefined;
      try {
        next = await make(loaded);
        await next.handler.start();
      } catch (error) {
        await (next ? end(next) : loaded.close?.());
        throw error;
      }
      retire(current);
      current = next;
    },
    async close(timeoutMs) {
      for (const timer of retired.values()) clearInterval(timer);
      await Promise.all([current, ...retired.keys()].map((one) => end(one, timeoutMs)));
    },
  };
}

function openIn({ busy, handler }: Generation): number {
  // A request that runs an agent is answered as soon as its stream begins.
  return busy + handler.runs.list().length;
}

// Errors of the work are its caller's; work that is late is left behind.
async function within(work: Promise<void> | undefined, ms: number): Promise<void> {
  if (!work) return;
  const late = new Error(`It took longer than ${ms} ms.`);
  try {
    await withDeadline(work, { ms, clock: processClock, late: () => late });
  } catch (error) {
    if (error !== late) throw error;
  }
}
