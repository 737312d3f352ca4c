import { isRequestBound, withDeadline } from "@holodeck/agui-core/internal";
import { AgentError } from "@holodeck/agui-core";
import type { AgentObject } from "@holodeck/agui-core";
import type { Agents } from "./agents.ts";
import { isProduction } from "../options/environment.ts";
import type { RunRegistry } from "./registry.ts";
import { shuttingDown } from "./launch.ts";
import type { Settings } from "../options/options.ts";
import type { Resources } from "./resources.ts";

export type HandlerState = "initializing" | "ready" | "running" | "shutting_down" | "stopped";

export interface Lifecycle {
  readonly state: HandlerState;
  /** Whether `close` was called. */
  readonly isClosing: boolean;
  start(): Promise<void>;
  close(options?: { timeoutMs?: number }): Promise<void>;
  /** Lets a request in, or throws why not. The first request makes the agents ready. */
  admit(): Promise<void> | void;
  /** Begins what the first request would begin, and waits a moment for it; for health checks. */
  probe(): Promise<void>;
  /** Whether the last attempt to start failed. */
  readonly hasFailed: boolean;
  /** The ids of the agents that are ready. */
  readonly readyAgents: ReadonlySet<string>;
  /** A run was accepted. False: too late, it has to end at once. */
  ran(): boolean;
  on(event: "state", listener: (state: HandlerState) => void): () => void;
}

const order: readonly HandlerState[] = [
  "initializing",
  "ready",
  "running",
  "shutting_down",
  "stopped",
];

const longestNoticeMs = 1_000;

// How long a health check waits for a handler that has not been started.
const probeMs = 500;

/** The states of a handler, in their one order. */
export function createLifecycle(options: {
  agents: Agents;
  settings: Settings;
  runs: RunRegistry;
  resources: Resources | undefined;
}): Lifecycle {
  const { agents, settings, runs, resources } = options;
  const { logger, clock, sessions } = settings;
  const listeners = new Set<(state: HandlerState) => void>();
  let state: HandlerState = "initializing";
  let starting: Promise<void> | undefined;
  let startedByHost = false;
  let closing: Promise<void> | undefined;
  let hasWarned = false;
  let hasFailed = false;
  const readyAgents = new Set<string>();

  function go(next: HandlerState): void {
    if (order.indexOf(next) <= order.indexOf(state)) return;
    state = next;
    for (const listener of listeners) {
      try {
        listener(next);
      } catch (error) {
        logger.error({ error, state: next }, "A state listener failed.");
      }
    }
  }

  async function prepare(): Promise<void> {
    readyAgents.clear();
    await Promise.all(
      agents.all.map(async ({ id, agent }) => {
        try {
          await (agent as AgentObject).validate?.();
          await (agent as AgentObject).ready?.();
          readyAgents.add(id);
        } catch (cause) {
          logger.error({ error: cause, agentId: id }, "An agent is not ready.");
          throw new AgentError("not-ready", `Agent '${id}' is not ready.`, {
            cause,
            retryAfter: 5,
          });
        }
      }),
    );
    hasFailed = false;
    go("ready");
  }

  function begin(): Promise<void> {
    if (!hasWarned && !settings.authenticate && isProduction()) {
      logger.warn({}, "No authenticate option: anyone who knows a thread's id can read it.");
    }
    hasWarned = true;
    // Another request may end before what it has begun.
    if (starting && !isRequestBound) return starting;
    starting = prepare().catch((error: unknown) => {
      // The next caller may try again.
      starting = undefined;
      hasFailed = true;
      throw error;
    });
    return starting;
  }

  async function finish(timeoutMs: number): Promise<void> {
    go("shutting_down");
    const deadline = clock.now() + timeoutMs;
    const stopBeat = beat();
    // A fifth of the time, at most a second, is kept for notifying the clients and ending the sessions.
    await within(settled(), timeoutMs - Math.min(timeoutMs * 0.2, longestNoticeMs));
    for (const run of runs.live.values()) run.post(() => run.abort(shuttingDown()));
    await within(settled(), (deadline - clock.now()) / 2);
    for (const run of [...runs.live.values(), ...runs.lingering]) run.cut();
    stopBeat();
    await within(Promise.resolve(resources?.close()), Math.max(0, deadline - clock.now()));
    // A store may throw instead of rejecting; the handler is closed all the same.
    const ending = Promise.resolve().then(() => sessions.close());
    await within(ending, Math.max(0, deadline - clock.now()));
    const files = Promise.resolve().then(() => settings.files?.close?.());
    await within(files, Math.max(0, deadline - clock.now()));
    go("stopped");
  }

  // Whether a client has received its last bytes is checked once per tick, up to a second apart;
  // closing does not wait that long.
  function beat(): () => void {
    let timer: unknown;
    const look = (): void => {
      for (const run of runs.lingering) run.tick(clock.now());
      timer = clock.setTimeout(look, 20);
    };
    look();
    return () => clock.clearTimeout(timer);
  }

  // The clock's timers keep no process alive; the caller of close expects it to finish before the
  // process ends.
  async function hold(work: Promise<void>): Promise<void> {
    const timer = setInterval(() => undefined, 60_000);
    try {
      await work;
    } finally {
      clearInterval(timer);
    }
  }

  function settled(): Promise<unknown> {
    return Promise.all([...runs.live.values(), ...runs.lingering].map((run) => run.idle));
  }

  async function within(work: Promise<unknown>, ms: number): Promise<void> {
    const late = new Error(`It took longer than ${ms} ms.`);
    try {
      await withDeadline(work, { ms, clock, late: () => late });
    } catch (error) {
      if (error !== late) logger.error({ error }, "An error occurred during shutdown.");
    }
  }

  const lifecycle = {
    get state() {
      return state;
    },
    // No getter: every reply looks at it.
    isClosing: false as boolean,
    start() {
      if (state !== "initializing") return Promise.resolve();
      startedByHost = true;
      return begin();
    },
    close({ timeoutMs = 5_000 } = {}) {
      lifecycle.isClosing = true;
      closing ??= hold(finish(timeoutMs));
      return closing;
    },
    admit() {
      if (state === "ready" || state === "running") return undefined;
      if (state !== "initializing") {
        throw new AgentError("shutting-down", "This server is shutting down.", { retryAfter: 5 });
      }
      if (startedByHost && starting) {
        throw new AgentError("not-ready", "This server is still starting.", { retryAfter: 1 });
      }
      return begin();
    },
    async probe() {
      if (state !== "initializing" || (startedByHost && starting)) return;
      // Why it failed is logged there; here it only counts that it did.
      const begun = begin().catch(() => undefined);
      await within(begun, probeMs);
    },
    get hasFailed() {
      return hasFailed;
    },
    readyAgents,
    ran() {
      go("running");
      return state === "running";
    },
    on(_event, listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  } satisfies Lifecycle;
  return lifecycle;
}
