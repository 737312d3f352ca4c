import type { Json, ServerTool } from "@holodeck/agui-core";
import type { Agents } from "./agents.ts";
import type { Settings } from "./options.ts";
import type { MountedRoute } from "./router.ts";
import { version } from "./version.ts";

/** What discovery answers: one JSON for AG-UI tools and CopilotKit. */
export function describeHandler(parts: {
  agents: Agents;
  settings: Settings;
  routes: readonly MountedRoute[];
}): Json {
  const { agents, settings, routes } = parts;
  const { tools, protocols, basePath } = settings;
  const toolInfo = tools.length > 0 ? { tools: tools.map(toDefinition) } : {};
  return {
    service: "holodeck-agui",
    version,
    ...settings.info,
    agents: Object.fromEntries(agents.all.map(({ id, info }) => [id, { ...toolInfo, ...info }])),
    defaultAgent: agents.get(undefined).id,
    ...mergeFacts(protocols.map((protocol) => protocol.describe?.() ?? {})),
    routes: routes.map(({ route }) => `${route.method} ${basePath}${route.path}`),
  };
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

// Several protocols describe themselves under one key, such as `protocols`.
function mergeFacts(all: readonly Json[]): Json {
  const merged: Json = {};
  for (const facts of all) {
    for (const [key, value] of Object.entries(facts)) {
      const before = merged[key];
      merged[key] = isRecord(before) && isRecord(value) ? { ...before, ...value } : value;
    }
  }
  return merged;
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
