import type { Json, ProtocolHost, Reply, Route } from "@holodeck/agui-core";

/**
 * Discovery as a route. Every protocol may mount it; protocols that share a path share it.
 *
 * @example
 * ```ts
 * routes: (host) => [infoRoute("/agents/info", host)],
 * ```
 */
export function infoRoute(path: string, host: ProtocolHost): Route {
  return {
    method: "GET",
    path,
    shared: true,
    handle: () => describe(host),
    operation: () => infoOperation,
  };
}

/** What discovery answers, once agents were asked what they can do. */
async function describe(host: ProtocolHost): Promise<Reply> {
  return { status: 200, body: await (host.discover?.() ?? host.info()) };
}

const agent = {
  type: "object",
  properties: {
    id: { type: "string" },
    name: { type: "string" },
    description: { type: "string" },
    className: { type: "string" },
    tools: { type: "array", items: { type: "object" } },
    capabilities: { type: "object" },
  },
  required: ["id", "name"],
};

const info = {
  type: "object",
  properties: {
    service: { type: "string" },
    version: { type: "string" },
    agents: { type: "object", additionalProperties: agent },
    defaultAgent: { type: "string" },
    routes: { type: "array", items: { type: "string" } },
  },
  required: ["service", "version", "agents", "defaultAgent", "routes"],
};

const infoOperation: Json = {
  operationId: "info",
  summary: "Lists the agents and what this server supports.",
  tags: ["discovery"],
  responses: {
    200: {
      description: "The agents and the server's capabilities.",
      content: { "application/json": { schema: info } },
    },
  },
};
