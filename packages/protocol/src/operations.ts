import { isRecord } from "@holodeck/agui-core/internal";
import type { Awaitable, Json } from "@holodeck/agui-core";
import { protoMediaType } from "./encode/proto-encoder.ts";
import { loadSchemas } from "./schemas.ts";
import type { WireCase } from "./encode/sse-encoder.ts";

/** The OpenAPI operations of the routes. An object and not the module, which bundlers could not leave out. */
export const operations: {
  readonly [K in "describeRun" | "describeAttach" | "describeConnect" | "describeStop"]: (
    wireCase: WireCase,
  ) => Awaitable<Json>;
} = { describeRun, describeAttach, describeConnect, describeStop };

/** The OpenAPI operation of `POST {path}`. */
async function describeRun(wireCase: WireCase): Promise<Json> {
  return {
    operationId: "runAgent",
    summary: "Runs an agent and streams its events.",
    tags,
    description:
      "A run id is used once: a copy of a request whose run has ended is answered with the events of that " +
      "run, and any other request with a used id with 409 `run-exists`.",
    parameters: [
      {
        name: "Last-Event-ID",
        in: "header",
        schema: offset,
        description:
          "The last `id` received, if this run may have started already: the response then continues that run.",
      },
    ],
    requestBody: {
      required: true,
      content: { "application/json": { schema: await inputSchema() } },
    },
    responses: {
      "200": await streamResponse("The events of the run, from its start to its end.", wireCase),
    },
  };
}

/** The OpenAPI operation of `GET {path}/runs/:runId/events`. */
async function describeAttach(wireCase: WireCase): Promise<Json> {
  return {
    operationId: "attachToRun",
    summary: "Follows a run started by another request.",
    description:
      "With an offset, exactly what follows it. Without one, a self-contained stream: " +
      "RUN_STARTED, snapshots, open parts, and then the events of the run.",
    tags,
    parameters: [
      { name: "offset", in: "query", schema: offset, description: "The last `id` received." },
      { name: "Last-Event-ID", in: "header", schema: offset, description: "The same." },
      {
        name: "protocolVersion",
        in: "query",
        schema: { type: "string" },
        description:
          "The protocol version the client reads. By default the one of the request that started the run.",
      },
    ],
    responses: { "200": await streamResponse("The events of the run.", wireCase) },
  };
}

/** The OpenAPI operation of `GET {path}`. */
async function describeConnect(wireCase: WireCase): Promise<Json> {
  const query = (name: string, description: string): Json => ({
    name,
    in: "query",
    schema: { type: "string" },
    description,
  });
  const shown = await streamResponse("The events of the thread.", wireCase);
  const json = asJson({
    description: "For `Accept: application/json`: messages, active run and interrupts.",
    type: "object",
  });
  return {
    operationId: "connectToThread",
    summary: "Shows a thread: what is past as snapshots, and the active run live.",
    tags,
    parameters: [
      query("threadId", "The thread. Without it, `runId` names a run as in `/runs/:runId/events`."),
      query("runId", "The run to follow; `offset=-1` sends all of its events."),
      query("protocolVersion", "The protocol version the client reads."),
    ],
    responses: { "200": { ...shown, content: { ...(shown.content as Json), ...json } } },
  };
}

/** The OpenAPI operation of `POST {path}/runs/:runId/stop`. */
function describeStop(wireCase: WireCase): Json {
  const id = wireCase === "snake" ? "run_id" : "runId";
  const content = asJson({
    type: "object",
    properties: { [id]: { type: "string" }, stopped: { type: "boolean" } },
    required: [id, "stopped"],
  });
  return {
    operationId: "stopRun",
    summary: "Stops a run.",
    tags,
    responses: {
      "200": { description: "The run had already ended.", content },
      "202": { description: "The run is being stopped.", content },
    },
  };
}

const tags = ["agui"];

const offset = { type: "string", pattern: "^\\d{1,15}$" };

// The schema that validates, less what is filled in before it does.
async function inputSchema(): Promise<Json> {
  const { RunAgentInputSchema } = await loadSchemas();
  const schema = await toJsonSchema(RunAgentInputSchema);
  const { messages, ...properties } = schema.properties as Record<string, Json>;
  return {
    ...schema,
    title: "RunAgentInput",
    description:
      "AG-UI 1.1; 1.0, 0.0.x and snake_case are accepted too. Missing ids are generated.",
    properties: {
      agentId: { type: "string", description: "Which agent answers; by default the first." },
      ...properties,
      messages: { ...messages, items: withoutId(messages?.items) },
    },
    required: [],
  };
}

function withoutId(items: unknown): unknown {
  if (!isRecord(items) || !Array.isArray(items.oneOf)) return items;
  const oneOf = items.oneOf.map((one: Json) => ({
    ...one,
    required: (one.required as string[]).filter((name) => name !== "id"),
  }));
  return { ...items, oneOf };
}

async function streamResponse(description: string, wireCase: WireCase): Promise<Json> {
  const { EventSchema } = await loadSchemas();
  const event = { ...(await toJsonSchema(EventSchema)), title: "AguiEvent" };
  return {
    description,
    content: {
      "text/event-stream": {
        schema: { type: "string" },
        // AG-UI has a schema for its own spelling only.
        ...(wireCase === "camel" ? { "x-event-schema": event } : {}),
      },
      [protoMediaType]: { schema: { type: "string", format: "binary" } },
    },
  };
}

const made = new WeakMap<object, Json>();

// Once for all operations and handlers: the events alone take a tenth of a second.
async function toJsonSchema(schema: object): Promise<Json> {
  const known = made.get(schema);
  if (known) return known;
  // The entry that AG-UI's own schemas are made with, in zod 4 and in 3.25.
  const { z } = await import("zod/v4");
  const json = z.toJSONSchema(schema as Parameters<typeof z.toJSONSchema>[0], {
    io: "input",
    unrepresentable: "any",
  }) as Json;
  made.set(schema, json);
  return json;
}

function asJson(schema: Json): Json {
  return { "application/json": { schema } };
}
