import type { Json } from "@holodeck/agui-core";

const status = { enum: ["healthy", "degraded", "unhealthy"] };
const state = { enum: ["initializing", "ready", "running", "shutting_down", "stopped"] };
const count = { type: "integer", minimum: 0 };

/** What `/ready` answers, as JSON Schema. */
export const readySchema: Json = {
  type: "object",
  properties: { ready: { type: "boolean" }, state, reason: { type: "string" } },
  required: ["ready", "state"],
};

/** What `/health` answers, as JSON Schema; with every agent for `/health/agent`. */
export function healthSchema(withAgents: boolean): Json {
  const properties: Json = {
    status,
    state,
    version: { type: "string" },
    agent_name: { type: ["string", "null"] },
    agent_ready: { type: "boolean" },
    active_sessions: count,
    thread_count: count,
    active_runs: count,
    uptime_seconds: { type: "number", minimum: 0 },
    checks: {
      type: "array",
      items: {
        type: "object",
        properties: { name: { type: "string" }, status, reason: { type: "string" } },
        required: ["name", "status"],
      },
    },
  };
  if (withAgents) properties.agents = { type: "object", additionalProperties: agentSchema };
  return { type: "object", properties, required: Object.keys(properties) };
}

const agentSchema: Json = {
  type: "object",
  properties: {
    id: { type: "string" },
    name: { type: "string" },
    ready: { type: "boolean" },
  },
  required: ["id", "name", "ready"],
};

/** A health check as an operation of OpenAPI: its 503 has the same body as its 200. */
export function toOperation(about: { id: string; summary: string; schema: Json }): Json {
  const { id, summary, schema } = about;
  const content = { "application/json": { schema } };
  return {
    operationId: id,
    summary,
    tags: ["health"],
    responses: {
      "200": { description: "Yes.", content },
      "503": { description: "No.", content },
    },
  };
}
