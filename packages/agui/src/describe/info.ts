import { isRecord } from "@holodeck/agui-core/internal";
import type { Json, ProtocolHost, ServerTool } from "@holodeck/agui-core";
import type { Agents, LoadedAgent } from "../runs/agents.ts";
import type { Capabilities } from "./capabilities.ts";
import type { Settings } from "../options/options.ts";
import type { MountedRoute } from "../http/router.ts";
import { version } from "./version.ts";

/** What discovery is made from. */
export interface HandlerParts {
  readonly agents: Agents;
  readonly capabilities: Capabilities;
  readonly settings: Settings;
  /** Of each protocol, in their order. */
  readonly hosts: readonly ProtocolHost[];
  readonly routes: readonly MountedRoute[];
}

/** What discovery answers: one JSON for AG-UI tools, FlagPilot's clients and CopilotKit. */
export function describeHandler(parts: HandlerParts): Json {
  const { agents, settings, hosts, routes } = parts;
  const { tools, protocols, basePath } = settings;
  const facts = protocols.map((protocol, index) => protocol.describe?.(hosts[index]!) ?? {});
  // What the wires can do holds for every agent behind them.
  const { capabilities = {}, ...rest } = merge(facts);
  const shared = { tools: tools.map(toDefinition), capabilities };
  const describe = (one: LoadedAgent): Json =>
    describeAgent(one, shared, parts.capabilities.of(one.id));
  return {
    service: "holodeck-agui",
    version,
    ...settings.info,
    agents: Object.fromEntries(agents.all.map((one) => [one.id, describe(one)])),
    defaultAgent: agents.first.id,
    ...rest,
    ...(isRecord(rest.protocols) && { protocols: withBase(rest.protocols, basePath) }),
    // Protocols that can distinguish their bodies may share a route.
    routes: [...new Set(routes.map(({ route }) => `${route.method} ${basePath}${route.path}`))],
  };
}

// A protocol knows its paths below the handler's; clients call them below the server's.
function withBase(protocols: Json, basePath: string): Json {
  return Object.fromEntries(
    Object.entries(protocols).map(([name, facts]) => [
      name,
      isRecord(facts)
        ? Object.fromEntries(
            Object.entries(facts).map(([key, value]) => [
              key,
              /path$/i.test(key) ? below(basePath, value) : value,
            ]),
          )
        : facts,
    ]),
  );
}

function below(basePath: string, path: unknown): unknown {
  if (Array.isArray(path)) return path.map((one) => below(basePath, one));
  if (typeof path !== "string" || basePath === "") return path;
  return path === "/" ? basePath : `${basePath}${path}`;
}

// The fields that the host gave come first, then those of the agent, then what the server knows.
function describeAgent(
  { agent, info }: LoadedAgent,
  shared: { tools: readonly Json[]; capabilities: unknown },
  own: Json | undefined,
): Json {
  const tools = Array.isArray(info.tools) ? (info.tools as unknown[]) : shared.tools;
  const known =
    tools.length > 0 ? { tools, capabilities: { tools: { supported: true, items: tools } } } : {};
  const { id, name } = info;
  const ours = { id, name, className: classOf(agent), capabilities: shared.capabilities };
  return merge([ours, known, own ? { capabilities: own } : {}, info]);
}

// CopilotKit's word for what kind of agent it is.
function classOf(agent: object): string {
  const { name } = agent.constructor;
  return name === "" || name === "Object" || name.endsWith("Function") ? "Agent" : name;
}

// What a client may know of a server tool: AG-UI's definition of one, and nothing of ours.
function toDefinition({ name, description, parameters, metadata }: ServerTool): Json {
  return {
    name,
    description,
    ...(parameters === undefined ? {} : { parameters: parameters as unknown }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

// Several describe themselves under one key, such as `protocols`. The later has the last word.
function merge(all: readonly Json[]): Json {
  const merged: Json = {};
  for (const facts of all) {
    for (const [key, value] of Object.entries(facts)) {
      const before = merged[key];
      merged[key] = isRecord(before) && isRecord(value) ? merge([before, value]) : value;
    }
  }
  return merged;
}
