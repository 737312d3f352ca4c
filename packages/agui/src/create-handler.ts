import { toFetch } from "@holodeck/agui-core";
import { ByteBudget, createOnce, createTicker, isPromise } from "@holodeck/agui-core/internal";
import type {
  AgentLike,
  Awaitable,
  ExchangeHandler,
  Json,
  ProtocolHost,
  SessionStore,
} from "@holodeck/agui-core";
import { loadAgents } from "./runs/agents.ts";
import type { AgentMap } from "./runs/agents.ts";
import { createCapabilities } from "./describe/capabilities.ts";
import { yieldTo } from "./http/choose-route.ts";
import { createHandle } from "./http/create-handle.ts";
import { createRouter } from "./http/router.ts";
import type { MountedRoute } from "./http/router.ts";
import { createHost } from "./runs/host.ts";
import { noticeLosses } from "./runs/recovery/notice-losses.ts";
import { answeringStore } from "./runs/store/answering-store.ts";
import { createRegistry } from "./runs/registry.ts";
import { createResources, withResources } from "./runs/resources.ts";
import { createRunDirectory } from "./runs/run-directory.ts";
import type { RunDirectory } from "./runs/run-directory.ts";
import { healthRoutes } from "./describe/health.ts";
import { describeHandler } from "./describe/info.ts";
import { createLifecycle } from "./runs/lifecycle.ts";
import type { HandlerState } from "./runs/lifecycle.ts";
import { resolveOptions } from "./options/options.ts";
import type { AgentHandlerOptions, HandlerDefaults, Settings } from "./options/options.ts";

export interface AgentHandler extends ExchangeHandler {
  /** A bound property: `export const POST = handler.fetch` works. */
  readonly fetch: (request: Request, ...platform: unknown[]) => Promise<Response>;
  readonly state: HandlerState;
  /** Makes the agents ready. The first request calls it if the host did not. */
  start(): Promise<void>;
  /** Takes no new requests, lets runs finish, then aborts them, then ends the sessions. */
  close(options?: { timeoutMs?: number }): Promise<void>;
  /** What discovery answers. */
  info(): Json;
  /** The OpenAPI 3.1 document of what is mounted. */
  openapi(): Promise<Json>;
  /** The runs of this process. */
  readonly runs: RunDirectory;
  readonly sessions: SessionStore;
  /** Called on every change of state; returns how to stop listening. */
  on(event: "state", listener: (state: HandlerState) => void): () => void;
}

/** What the slim entry does without; a bundler finds it only from the other one. */
export interface EntryParts extends HandlerDefaults {
  readonly document?: {
    describe(parts: { settings: Settings; routes: readonly MountedRoute[] }): Promise<Json>;
    routes(options: Settings["openapi"], describe: () => Promise<Json>): MountedRoute[];
  };
}

/** Makes a handler from its options, with what its entry has. */
export function createHandler(
  agent: AgentLike | AgentMap,
  options: AgentHandlerOptions,
  parts: EntryParts,
): AgentHandler {
  const { document } = parts;
  const resolved = withAnswers(resolveOptions(options, parts), options.sessions);
  const resources = options.createSession && createResources(options.createSession, resolved);
  const settings = resources
    ? { ...resolved, sessions: withResources(resolved.sessions, resources) }
    : resolved;
  const { protocols } = settings;
  const agents = loadAgents(agent, options.defaultAgent);
  const capabilities = createCapabilities(agents, settings);
  const runs = createRegistry();
  const ticker = createRunTicker(settings);
  const { clock } = settings;
  const unsent = new ByteBudget({
    maxBytes: settings.limits.unsentBytes,
    clock,
    what: "responses",
  });
  const lifecycle = createLifecycle({ agents, settings, runs, resources });
  const readable = noticeLosses({ settings, agents, runs });
  const host = createHost({
    settings,
    readable,
    agents,
    runs,
    runSettings: { ...settings, ticker, unsent },
    resources,
    info,
    discover,
    onRun: lifecycle.ran,
  });
  const hosts = protocols.map((protocol) => host(protocol));
  const protocolRoutes = routesOf(settings, hosts);
  const router = createRouter([
    ...protocolRoutes,
    ...yieldTo(protocolRoutes, [
      ...healthRoutes({ agents, settings, runs, lifecycle }),
      ...(document?.routes(settings.openapi, () => openapi()) ?? []),
      ...(settings.files?.routes?.(settings) ?? []).map((route) => ({ owner: "files", route })),
    ]),
  ]);
  const handle = createHandle({
    settings,
    router,
    ticker,
    unsent,
    lifecycle,
  });
  const openapi = createOnce(async () => {
    if (!document) throw new TypeError("@holodeck/agui/slim has no OpenAPI document.");
    return document.describe({ settings, routes: router.routes });
  });

  function info(): Json {
    return describeHandler({ agents, capabilities, settings, hosts, routes: router.routes });
  }

  function discover(): Awaitable<Json> {
    const asking = capabilities.ask();
    return isPromise(asking) ? asking.then(info) : info();
  }

  return {
    handle,
    fetch: toFetch(handle, { typeBase: settings.problemTypeBase }),
    get state() {
      return lifecycle.state;
    },
    start: lifecycle.start,
    async close(how) {
      await lifecycle.close(how);
      ticker.rest();
    },
    info,
    openapi,
    runs: createRunDirectory(runs, readable),
    sessions: readable,
    on: lifecycle.on,
  };
}

/** One ticker for the time limits of all runs, quick enough for the shortest of them. */
function createRunTicker(settings: Settings): ReturnType<typeof createTicker> {
  const { clock, heartbeatMs, limits, onDisconnect } = settings;
  const { stallMs, runTimeoutMs, appendMs } = limits;
  const graceMs = typeof onDisconnect === "object" ? onDisconnect.graceMs : 1e9;
  const shortest = Math.min(heartbeatMs, stallMs, runTimeoutMs, appendMs, graceMs);
  return createTicker(clock, Math.min(1_000, Math.max(5, shortest / 4)));
}

function routesOf({ protocols }: Settings, hosts: readonly ProtocolHost[]): MountedRoute[] {
  return protocols.flatMap((protocol, index) =>
    protocol.routes(hosts[index]!).map((route): MountedRoute => ({ owner: protocol.name, route })),
  );
}

// Ours in memory answers at once.
function withAnswers(settings: Settings, sessions: SessionStore | undefined): Settings {
  if (!sessions) return settings;
  const { clock, limits } = settings;
  return { ...settings, sessions: answeringStore(sessions, { ms: limits.appendMs, clock }) };
}
