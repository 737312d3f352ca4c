import { isAgentError } from "@holodeck/agui-core";
import { isRequestBound, withDeadline } from "@holodeck/agui-core/internal";
import type { Awaitable, Json, Reply } from "@holodeck/agui-core";
import type { Agents } from "../runs/agents.ts";
import { healthSchema, readySchema, toOperation } from "./health-schemas.ts";
import type { Lifecycle } from "../runs/lifecycle.ts";
import type { Settings } from "../options/options.ts";
import type { RunRegistry } from "../runs/registry.ts";
import type { MountedRoute } from "../http/router.ts";
import { serviceOf } from "./service.ts";
import { createStoreCheck } from "./store-check.ts";

export type HealthStatus = "healthy" | "degraded" | "unhealthy";

/** Looks at something the agents need. Throwing, rejecting or `false` is `"unhealthy"`. */
export type HealthCheck = () => Awaitable<HealthStatus | boolean | void>;

/** The paths of the health checks, and additional checks. */
export interface HealthOptions {
  /**
   * Whether the server works: 503 when it does not.
   * @default "/health"
   */
  path?: string | false;
  /**
   * Whether to send it requests: 503 until it is ready, while it shuts down, and while the store cannot be
   * reached or refuses writes.
   * @default "/ready"
   */
  readyPath?: string | false;
  /**
   * The same as `path`, agent by agent.
   * @default "/health/agent"
   */
  agentPath?: string | false;
  /** What else has to work, by name. One that takes longer than two seconds counts as unhealthy. */
  checks?: Readonly<Record<string, HealthCheck>>;
}

interface CheckResult {
  readonly name: string;
  readonly status: HealthStatus;
  /** Why the store is not healthy. Its cause is in the log: health checks are public. */
  readonly reason?: string;
}

const checkMs = 2_000;
const storeCheck = "sessions";

/** The routes that report the handler's health. They are public and answer in every state. */
export function healthRoutes(parts: {
  agents: Agents;
  settings: Settings;
  runs: RunRegistry;
  lifecycle: Lifecycle;
}): MountedRoute[] {
  const { agents, settings, runs, lifecycle } = parts;
  const { sessions, clock, logger, health } = settings;
  if (health === false) return [];
  const { path = "/health", readyPath = "/ready", agentPath = "/health/agent" } = health;
  const checks = Object.entries(health.checks ?? {});
  const since = clock.now();
  const store = createStoreCheck({ sessions, clock, fallback: () => runs.live.size });
  let looking: Promise<CheckResult> | undefined;

  async function look(
    name: string,
    check: HealthCheck,
    why?: () => Error | undefined,
  ): Promise<CheckResult> {
    try {
      const late = (): Error => why?.() ?? new Error(`The check took longer than ${checkMs} ms.`);
      const verdict = await withDeadline(() => check(), { ms: checkMs, clock, late });
      if (verdict === "degraded" || verdict === "unhealthy") return { name, status: verdict };
      return { name, status: verdict === false ? "unhealthy" : "healthy" };
    } catch (error) {
      logger.warn({ error, check: name }, "A health check failed.");
      return {
        name,
        status: "unhealthy",
        ...(isAgentError(error) ? { reason: error.message } : {}),
      };
    }
  }

  // A store in this process answers at once and needs no timer; a remote one is asked once at a time.
  function lookAtSessions(): Awaitable<CheckResult | undefined> {
    if (looking && !isRequestBound) return looking;
    const asked = store.look();
    return asked && (looking = waitForStore(asked));
  }

  async function waitForStore(asked: Promise<void>): Promise<CheckResult> {
    const result = await look(
      storeCheck,
      () => asked,
      () => store.failure,
    );
    looking = undefined;
    // Restarting this process does not bring a store back, so the process stays healthy.
    return result.status === "healthy" ? result : { ...result, status: "degraded" };
  }

  async function checkAll(): Promise<readonly CheckResult[]> {
    await lifecycle.probe();
    if (lifecycle.state === "stopped") return [];
    const results = await Promise.all([
      lookAtSessions(),
      ...checks.map(([name, check]) => look(name, check)),
    ]);
    return results.filter((result) => result !== undefined);
  }

  function statusOf(results: readonly CheckResult[]): HealthStatus {
    const isBroken = lifecycle.hasFailed || lifecycle.state === "stopped";
    if (isBroken || results.some(({ status }) => status === "unhealthy")) return "unhealthy";
    return results.some(({ status }) => status === "degraded") ? "degraded" : "healthy";
  }

  async function describeHealth(): Promise<Json & { status: HealthStatus }> {
    const results = await checkAll();
    const { id, info } = agents.first;
    return {
      status: statusOf(results),
      state: lifecycle.state,
      version: serviceOf(settings.info).version,
      agent_name: info.name,
      agent_ready: isReady(id),
      active_sessions: store.count,
      thread_count: store.count,
      active_runs: runs.live.size,
      uptime_seconds: Math.max(0, (clock.now() - since) / 1000),
      checks: results,
    };
  }

  function isReady(agentId: string): boolean {
    return lifecycle.readyAgents.has(agentId) && lifecycle.state !== "stopped";
  }

  async function getHealth(): Promise<Reply> {
    const body = await describeHealth();
    return toReply(body.status !== "unhealthy", body);
  }

  async function getReady(): Promise<Reply> {
    const results = await checkAll();
    const { state } = lifecycle;
    const hasStore = results.every(
      ({ name, status }) => name !== storeCheck || status === "healthy",
    );
    const isFine = hasStore && statusOf(results) !== "unhealthy";
    const ready = isFine && (state === "ready" || state === "running");
    const { reason } = results.find(({ name }) => name === storeCheck) ?? {};
    return toReply(ready, { ready, state, ...(ready || !reason ? {} : { reason }) });
  }

  async function getAgents(): Promise<Reply> {
    const body = await describeHealth();
    const each = agents.all.map(({ id, info }) => [
      id,
      { id, name: info.name, ready: isReady(id) },
    ]);
    return toReply(body.status !== "unhealthy", { ...body, agents: Object.fromEntries(each) });
  }

  return [
    probe(path, getHealth, {
      id: "getHealth",
      summary: "Whether the server works.",
      schema: healthSchema(false),
    }),
    probe(readyPath, getReady, {
      id: "getReadiness",
      summary: "Whether the server accepts requests.",
      schema: readySchema,
    }),
    probe(agentPath, getAgents, {
      id: "getAgentHealth",
      summary: "Whether each agent is ready.",
      schema: healthSchema(true),
    }),
  ].flat();
}

function probe(
  path: string | false,
  handle: () => Promise<Reply>,
  about: { id: string; summary: string; schema: Json },
): MountedRoute[] {
  if (path === false) return [];
  const operation = (): Json => toOperation(about);
  const route = { method: "GET", path, public: true, handle, operation } as const;
  return [{ owner: "health", route, isAlways: true }];
}

const headers = { "content-type": "application/json", "cache-control": "no-store" };

function toReply(isFine: boolean, body: Json): Reply {
  return { status: isFine ? 200 : 503, headers, body };
}
