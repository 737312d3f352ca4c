// Longer than our usual file: the way of one request through a handler, in the order in which it is walked.
import { AgentError, toFetch } from "@holodeck/agui-core";
import { createTicker, describeValue } from "@holodeck/agui-core/internal";
import type {
  AgentLike,
  Awaitable,
  Call,
  Exchange,
  ExchangeHandler,
  Json,
  Principal,
  Reply,
  RequestFacts,
  RunStatus,
  SessionStore,
} from "@holodeck/agui-core";
import type { LiveRun } from "@holodeck/agui-core/internal";
import { loadAgents } from "./runs/agents.ts";
import type { AgentMap } from "./runs/agents.ts";
import { isMultipart, readJson } from "./http/read-json.ts";
import { createCapabilities } from "./describe/capabilities.ts";
import { notAllowed, notFound, notUnderstood, wantedOf, yieldTo } from "./http/choose-route.ts";
import { createHost } from "./runs/host.ts";
import { createRegistry } from "./runs/registry.ts";
import type { RunRegistry } from "./runs/registry.ts";
import { isPromise } from "./runs/is-promise.ts";
import { healthRoutes } from "./describe/health.ts";
import { describeHandler } from "./describe/info.ts";
import { stopped } from "./runs/thread-run.ts";
import { createLifecycle } from "./lifecycle.ts";
import type { HandlerState } from "./lifecycle.ts";
import { describeApi, openApiRoute } from "./describe/openapi.ts";
import { resolveOptions } from "./options/options.ts";
import type { AgentHandlerOptions } from "./options/options.ts";
import { problemReply, toAgentError } from "./http/problem.ts";
import { createRouter } from "./http/router.ts";
import type { MountedRoute, RouteMatch } from "./http/router.ts";
import { stripBase, toCall, toRequestId } from "./http/call.ts";
import type { RequestFindings } from "./http/call.ts";
import { createResources, withResources } from "./runs/resources.ts";
import { sendReply } from "./http/send-reply.ts";

/** A run as the host of a handler sees it. */
export interface RunInfo {
  readonly runId: string;
  readonly threadId: string;
  readonly agentId: string;
  readonly principal: string;
  readonly status: RunStatus;
}

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
  readonly runs: {
    get(runId: string): RunInfo | undefined;
    list(): readonly RunInfo[];
    /** Stops a run, in whichever process it is. False when no such run is going. */
    stop(runId: string, options?: { principal?: string }): Promise<boolean>;
  };
  readonly sessions: SessionStore;
  /** Called on every change of state; returns how to stop listening. */
  on(event: "state", listener: (state: HandlerState) => void): () => void;
}

/**
 * Serves an agent, or a map of agents, to every client the protocols know.
 *
 * @example
 * ```ts
 * const handler = createAgentHandler(async function* (input) {
 *   yield "Hello ";
 *   yield "world";
 * });
 * export const POST = handler.fetch;
 * ```
 */
export function createAgentHandler(
  agent: AgentLike | AgentMap,
  options: AgentHandlerOptions = {},
): AgentHandler {
  const resolved = resolveOptions(options);
  const resources = options.createSession && createResources(options.createSession, resolved);
  const settings = resources
    ? { ...resolved, sessions: withResources(resolved.sessions, resources) }
    : resolved;
  const { protocols, sessions, limits, logger, debug, clock, heartbeatMs, basePath } = settings;
  const agents = loadAgents(agent, options.defaultAgent);
  const capabilities = createCapabilities(agents, settings);
  const runs = createRegistry();
  const graceMs = typeof settings.onDisconnect === "object" ? settings.onDisconnect.graceMs : 1e9;
  const shortest = Math.min(
    heartbeatMs,
    limits.stallMs,
    limits.runTimeoutMs,
    limits.appendMs,
    graceMs,
  );
  const ticker = createTicker(clock, Math.min(1_000, Math.max(5, shortest / 4)));
  const lifecycle = createLifecycle({ agents, settings, runs, resources });

  const host = createHost({
    settings,
    agents,
    runs,
    runSettings: { ...settings, ticker },
    resources,
    info,
    discover,
    onRun: lifecycle.ran,
  });
  const hosts = protocols.map((protocol) => host(protocol));
  const spoken = protocols.flatMap((protocol, index) =>
    protocol.routes(hosts[index]!).map((route): MountedRoute => ({ owner: protocol.name, route })),
  );
  const router = createRouter([
    ...spoken,
    ...yieldTo(spoken, [
      ...healthRoutes({ agents, settings, runs, lifecycle }),
      ...openApiRoute(settings.openapi, openapi),
      ...(settings.files?.routes?.(settings) ?? []).map((route) => ({ owner: "files", route })),
    ]),
  ]);
  const layers = settings.handlerMiddleware.filter((one) => one.request !== undefined);
  let document: Promise<Json> | undefined;

  function info(): Json {
    return describeHandler({ agents, capabilities, settings, hosts, routes: router.routes });
  }

  function discover(): Awaitable<Json> {
    const asking = capabilities.ask();
    return isPromise(asking) ? asking.then(info) : info();
  }

  function openapi(): Promise<Json> {
    document ??= describeApi({ settings, routes: router.routes }).catch((error: unknown) => {
      // What an operation is made of may be there the next time.
      document = undefined;
      throw error;
    });
    return document;
  }

  async function handle(exchange: Exchange): Promise<boolean> {
    const path = stripBase(exchange.path, basePath);
    if (path === undefined && !exchange.isLast) return false;
    const requestId = toRequestId(exchange.header("x-request-id"));
    let reply: Reply;
    try {
      const match = path === undefined ? undefined : router.match(exchange.method, path);
      const routes = match && wantedOf(match.routes, exchange);
      if (!routes && !exchange.isLast) return false;
      if (!match || !routes) throw notFound(exchange);
      const protocol = routes.length === 1 ? routes[0]!.owner : undefined;
      const asked: Asked = { exchange, routes, match, requestId, protocol };
      reply = await (layers.length === 0 ? respond(asked) : respondThroughLayers(asked));
    } catch (error) {
      const refusal = explain(exchange, requestId, error);
      // A path that cannot be decoded or has no route; middleware sees its refusal like any other.
      reply =
        layers.length === 0
          ? refusal
          : await throughLayers({ exchange, requestId }, async () => refusal);
    }
    try {
      sendReply(exchange, reply, requestId);
    } catch (error) {
      // For example invalid response headers; the run behind the response must not wait for a
      // client.
      reply.stream?.discard();
      logger.error({ error, requestId }, "A response could not be sent.");
      throw error;
    }
    return true;
  }

  function explain(exchange: Exchange, requestId: string, error: unknown): Reply {
    return problemReply(toAgentError(error, { logger, requestId, debug }), {
      // As the client asked for it, with the prefix that a framework has stripped.
      instance: exchange.request.url.pathname,
      requestId,
      typeBase: settings.problemTypeBase,
    });
  }

  async function respondThroughLayers(asked: Asked): Promise<Reply> {
    const started: Reply[] = [];
    const reply = await throughLayers(asked, async () => {
      const made = await respond(asked);
      started.push(made);
      return made;
    });
    // A middleware may have answered something else than the run it was given.
    for (const made of started) {
      if (made.stream && made.stream !== reply.stream) made.stream.discard();
    }
    return reply;
  }

  function throughLayers(facts: LayerFacts, answer: () => Promise<Reply>): Promise<Reply> {
    const { exchange, requestId } = facts;
    const next = layers.reduceRight<() => Promise<Reply>>(
      (inner, layer) => async () => {
        try {
          return await layer.request!(exchange.request, inner, facts as RequestFacts);
        } catch (error) {
          return explain(exchange, requestId, error);
        }
      },
      answer,
    );
    return next();
  }

  async function respond(asked: Asked): Promise<Reply> {
    const { exchange, routes, match, requestId } = asked;
    let call: Call | undefined;
    let chosen: MountedRoute | undefined;
    try {
      chosen = routes.length === 1 ? routes[0] : undefined;
      const entry = chosen?.isAlways ? undefined : lifecycle.admit();
      if (entry) await entry;
      if (routes.length === 0) {
        const refuse = (error: unknown): Reply => explain(exchange, requestId, error);
        return notAllowed(exchange.method, match.allow, refuse);
      }
      const isPublic = !settings.authenticate || routes.every(({ route }) => route.public);
      const principal = isPublic ? undefined : await authenticate(exchange);
      const body = hasBody(routes) ? await readBody(exchange, routes) : undefined;
      const { params } = match;
      call = toCall(exchange, { params, body, principal, requestId, findings: asked });
      chosen ??= routes.find(({ route }) => route.claims?.(body) ?? true);
      if (!chosen) {
        throw notUnderstood(exchange, routes);
      }
      asked.protocol = chosen.owner;
      return await chosen.route.handle(call);
    } catch (error) {
      const fail = chosen?.route.fail;
      if (!fail || !call) return explain(exchange, requestId, error);
      return fail(toAgentError(error, { logger, requestId, debug }), call);
    }
  }

  function readBody(exchange: Exchange, routes: RouteMatch["routes"]): Awaitable<unknown> {
    let takesMultipart = false;
    let isOptional = false;
    for (const { route } of routes) {
      if (route.body !== undefined && route.body !== "json") takesMultipart = true;
      if (route.body === "optional-json") isOptional = true;
    }
    // Uploads are streamed to the route, which knows their limits.
    if (takesMultipart && isMultipart(exchange)) return undefined;
    return readJson(exchange, limits, isOptional);
  }

  async function authenticate(exchange: Exchange): Promise<Principal> {
    const asked = settings.authenticate?.(exchange.request);
    const principal = await (isPromise(asked) ? inTime(asked) : asked);
    if (principal) return assertPrincipal(principal);
    throw new AgentError("authentication-required", "Authentication is required.", {
      headers: { "www-authenticate": "Bearer" },
    });
  }

  // An identity provider that never responds would otherwise accumulate requests.
  async function inTime<T>(work: PromiseLike<T>): Promise<T> {
    let timer: unknown;
    const late = new Promise<never>((_, reject) => {
      const message = "Authentication timed out.";
      const error = new AgentError("timeout", message, { status: 503, retryAfter: 5 });
      timer = clock.setTimeout(() => reject(error), limits.authenticateMs);
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clock.clearTimeout(timer);
    }
  }

  const handler: AgentHandler = {
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
    runs: {
      get(runId) {
        const run = findRun(runs, runId);
        return run && toInfo(run);
      },
      list: () => runs.live.values().map(toInfo),
      async stop(runId, { principal = "" } = {}) {
        const run = findRun(runs, runId);
        run?.abort(stopped());
        if (run) return true;
        const record = await sessions.runs.find(principal, runId);
        return record?.status === "running" && (await sessions.runs.requestStop(record));
      },
    },
    sessions,
    on: lifecycle.on,
  };
  return handler;
}

/** A request and what may answer it. */
interface Asked extends RequestFindings {
  readonly exchange: Exchange;
  readonly routes: readonly MountedRoute[];
  readonly match: RouteMatch;
  readonly requestId: string;
  /** Which protocol answers, once that is known. */
  protocol: string | undefined;
}

type LayerFacts = Pick<Asked, "exchange" | "requestId"> & Partial<RequestFacts>;

function hasBody(routes: readonly MountedRoute[]): boolean {
  for (const { route } of routes) if (route.body !== undefined) return true;
  return false;
}

// A caller without an id would share the threads of all other callers without one.
function assertPrincipal(principal: Principal): Principal {
  if (typeof principal.id === "string" && principal.id !== "") return principal;
  throw new TypeError(
    `authenticate must return { id: string } or null, not ${describeValue(principal)}.`,
  );
}

function findRun(runs: RunRegistry, runId: string): LiveRun | undefined {
  for (const run of runs.live.values()) if (run.context.runId === runId) return run;
  return undefined;
}

function toInfo({ context, status }: LiveRun): RunInfo {
  const { runId, threadId, agentId, principal } = context;
  return { runId, threadId, agentId, principal: principal?.id ?? "", status };
}
