import { AgentError } from "@holodeck/agui-core";
import { isRecord } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";
import { invalidParam } from "./errors.ts";

/** The body of a request as an object. */
export function readObjectBody(body: unknown): Json {
  if (isRecord(body)) return body;
  throw new AgentError("invalid-request", "The body must be a JSON object.");
}

/** The agent that a request names. Absent: the default one. */
export function readModel(model: unknown): string | undefined {
  if (model === undefined || model === null || model === "") return undefined;
  if (typeof model === "string") return model;
  throw invalidParam("model", "must be the id of an agent, as in GET /models.");
}
