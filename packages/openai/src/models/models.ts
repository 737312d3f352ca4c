import { AgentError } from "@holodeck/agui-core";
import { asText, isRecord } from "@holodeck/agui-core/internal";
import type { Call, Json, ProtocolHost, Reply } from "@holodeck/agui-core";

const headers = { "cache-control": "no-store" };

/** `GET {path}/models`: the agents. */
export function listModels(host: ProtocolHost, created: number): Reply {
  const { agents, service } = host.info();
  const data = Object.entries(isRecord(agents) ? agents : {}).map(([id, about]) =>
    toModel(id, about, { created, owner: asText(service) ?? "" }),
  );
  return { status: 200, headers, body: { object: "list", data } };
}

/** `GET {path}/models/:id`: one of them. */
export function getModel({ params }: Call, host: ProtocolHost, created: number): Reply {
  const { agents, service, defaultAgent } = host.info();
  const known = isRecord(agents) ? agents : {};
  const { id: asked = "" } = params;
  const id = !Object.hasOwn(known, asked) && asked === "default" ? asText(defaultAgent)! : asked;
  if (!Object.hasOwn(known, id)) {
    throw new AgentError("agent-not-found", `The model '${asked}' does not exist.`);
  }
  const body = toModel(id, known[id], { created, owner: asText(service) ?? "" });
  return { status: 200, headers, body };
}

// Clients show `name` and `description` where they find them.
function toModel(id: string, about: unknown, fixed: { created: number; owner: string }): Json {
  const { name, description } = isRecord(about) ? about : {};
  return {
    id,
    object: "model",
    created: fixed.created,
    owned_by: fixed.owner,
    ...(typeof name === "string" && { name }),
    ...(typeof description === "string" && { description }),
  };
}
