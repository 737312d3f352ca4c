import { AgentError } from "@holodeck/agui-core";
import type { Call, ProtocolHost, Reply } from "@holodeck/agui-core";
import { invalidParam } from "../shared/errors.ts";
import { toInputItems } from "./input-items.ts";
import { responseEncoder } from "./response-encoder.ts";
import { responseNotFound } from "./response-ids.ts";
import { loadResponse } from "./stored-response.ts";

const headers = { "cache-control": "no-store" };

/** `GET {path}/responses/:id`: a response as it is now, or its stream after an event that the client has. */
export async function getResponse(call: Call, host: ProtocolHost): Promise<Reply> {
  const { id = "" } = call.params;
  const { record, builder } = await loadResponse(call, id, host);
  if (call.query.get("stream") !== "true") return { status: 200, headers, body: builder.toJson() };
  const startingAfter = readNumber(call.query, "starting_after") ?? -1;
  const run = await host.attach(call, { runId: record.runId });
  if (!run) throw responseNotFound(id);
  return run.stream(responseEncoder({ startingAfter }), "start");
}

/** `POST {path}/responses/:id/cancel`: stops a response, and returns it once it has ended. */
export async function cancelResponse(call: Call, host: ProtocolHost): Promise<Reply> {
  const { id = "" } = call.params;
  const { record, builder } = await loadResponse(call, id, host);
  const { runId, status } = record;
  if (status !== "running") return { status: 200, headers, body: builder.toJson() };
  await host.send(call, { runId }, { type: "stop" });
  await (await host.attach(call, { runId }))?.collect();
  const ended = await loadResponse(call, id, host);
  return { status: 200, headers, body: ended.builder.toJson() };
}

const defaultLimit = 20;
const maxLimit = 100;

/** `GET {path}/responses/:id/input_items`: what the request of a response brought, the last first. */
export async function listInputItems(call: Call, host: ProtocolHost): Promise<Reply> {
  const { id = "" } = call.params;
  const { record, builder } = await loadResponse(call, id, host);
  const session = await host.sessions.get(record);
  const brought = new Set(builder.note!.input);
  const items = (session?.messages ?? []).filter((message) => brought.has(message.id));
  const all = items.flatMap(toInputItems);
  if (call.query.get("order") !== "asc") all.reverse();
  const limit = readNumber(call.query, "limit") ?? defaultLimit;
  if (limit < 1 || limit > maxLimit) throw invalidParam("limit", `must be from 1 to ${maxLimit}.`);
  const after = call.query.get("after");
  const from = after === null ? 0 : all.findIndex((item) => item.id === after) + 1;
  if (after !== null && from === 0) {
    throw new AgentError("not-found", `There is no input item "${after.slice(0, 100)}".`);
  }
  const data = all.slice(from, from + limit);
  return {
    status: 200,
    headers,
    body: {
      object: "list",
      data,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: from + limit < all.length,
    },
  };
}

function readNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw invalidParam(name, "must be a whole number.");
}
