import { assertOptions, describeValue } from "@holodeck/agui-core/internal";
import type { Json, Protocol, ProtocolHost, Route } from "@holodeck/agui-core";
import { infoRoute } from "@holodeck/agui-protocol";
import { connect } from "./connect.ts";
import { claimsEnvelope, openEnvelope } from "./envelope.ts";
import { describeRoute } from "./operations.ts";
import { refuseEnvelope, refuseRun } from "./refuse.ts";
import { startRun, suggest } from "./run.ts";
import { stop } from "./stop.ts";
import { threadRoutes } from "./threads.ts";

/** Where CopilotKit finds its runtime. */
export interface CopilotKitOptions {
  /**
   * What the frontend is given as `runtimeUrl`, or several such places.
   * @default "/agui"
   */
  path?: string | readonly string[];
}

/**
 * CopilotKit's runtime contract, over its REST and its single-endpoint transport at once: a frontend
 * whose `runtimeUrl` is `path` needs no CopilotKit server.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, { protocols: [agui(), copilotkit()] });
 * ```
 */
export function copilotkit(options: CopilotKitOptions = {}): Protocol {
  return createCopilotkit(options, describeRoute);
}

/** The same without the description for OpenAPI, which a small bundle has no room for. */
export function slimCopilotkit(options: CopilotKitOptions = {}): Protocol {
  return createCopilotkit(options, (route) => route);
}

/** Adds the OpenAPI operation of a route; a bundler finds it only from the protocol that has it. */
type DescribeRoute = (route: Route, base: string, place: number) => Route;

function createCopilotkit(options: CopilotKitOptions, addOperation: DescribeRoute): Protocol {
  assertOptions("copilotkit", options, ["path"]);
  const { path = "/agui" } = options;
  const paths = (Array.isArray(path) ? path : [path]).map(checkPath);
  if (paths.length === 0) {
    throw new TypeError('copilotkit({ path }) needs at least one, e.g. "/agui".');
  }
  return {
    name: "copilotkit",
    history: "client",
    routes: (host) =>
      paths.flatMap((at, place) => {
        const base = at.replace(/\/$/, "");
        return routesAt(at, base, host).map((route) => addOperation(route, base, place));
      }),
    describe: (host) => describe(host, paths),
  };
}

function checkPath(path: unknown): string {
  if (typeof path === "string" && path.startsWith("/")) return path;
  throw new TypeError(`copilotkit({ path: ${describeValue(path)} }) must start with "/".`);
}

function routesAt(path: string, base: string, host: ProtocolHost): Route[] {
  const agent = `${base}/agent/:agentId`;
  const runs: Route[] = [
    { method: "POST", path: `${agent}/run`, body: "json", handle: (call) => startRun(call, host) },
    {
      method: "POST",
      path: `${agent}/connect`,
      body: "json",
      handle: (call) => connect(call, host),
    },
    {
      method: "POST",
      path: `${agent}/suggest`,
      body: "json",
      handle: (call) => suggest(call, host),
    },
  ];
  const rest: Route[] = [
    {
      method: "POST",
      path: `${agent}/stop/:threadId`,
      body: "optional-json",
      handle: (call) => stop(call, host),
    },
    ...threadRoutes(host).map((route) => ({ ...route, path: `${base}${route.path}` })),
  ];
  const envelope: Route = {
    method: "POST",
    path,
    body: "json",
    claims: claimsEnvelope,
    handle: (call) => openEnvelope(call, host),
    fail: refuseEnvelope,
  };
  return [
    envelope,
    infoRoute(`${base}/info`, host),
    ...runs.map((route) => ({ ...route, fail: refuseRun })),
    ...rest,
  ];
}

/**
 * The capabilities that CopilotKit's client reads from discovery. No flag is sent without a test;
 * `mode` is never "intelligence", and there is no licence member.
 */
function describe({ hasAuthenticate }: ProtocolHost, paths: readonly string[]): Json {
  const threadEndpoints = {
    // Without authentication all callers share one identity, and would see each other's threads.
    list: hasAuthenticate,
    inspect: true,
    mutations: true,
    realtimeMetadata: false,
  };
  return {
    mode: "sse",
    threadEndpoints,
    singleRoute: { resourceOperations: true, threadEndpoints },
    suggestions: true,
    audioFileTranscriptionEnabled: false,
    a2uiEnabled: false,
    openGenerativeUIEnabled: false,
    telemetryDisabled: true,
    capabilities: { transport: { streaming: true, resumable: true } },
    protocols: {
      copilotkit: {
        path: paths.length === 1 ? paths[0] : paths,
        transports: ["rest", "single"],
      },
    },
  };
}
