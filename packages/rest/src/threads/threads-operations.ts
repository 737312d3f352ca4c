import type { Json } from "@holodeck/agui-core";
import { loadThreadSchemas } from "./threads-schemas.ts";
import type { ThreadSchemas } from "./threads-schemas.ts";
import type { ThreadsSettings } from "./threads-settings.ts";

/** The operations of the dialect. */
export type ThreadOperation = "chat" | "list" | "get" | "delete" | "abort" | "toolResult";

const operations: Readonly<Record<ThreadOperation, (schemas: ThreadSchemas) => Json>> = {
  chat: ({ toJson, chat, chatResponse, event }) => ({
    summary: "Sends a message to a thread; without thread_id, to a new one.",
    requestBody: body(toJson(chat)),
    responses: {
      200: {
        description: "The answer: a stream of events, or one object with stream: false.",
        content: {
          "text/event-stream": {
            schema: {
              type: "string",
              description: "Server-sent events, each with one JSON object in its data.",
              contentMediaType: "application/json",
              contentSchema: toJson(event),
            },
          },
          "application/json": { schema: toJson(chatResponse) },
        },
      },
    },
  }),
  list: ({ toJson, threadList }) => ({
    summary: "Lists the caller's threads, the latest first.",
    parameters: [
      {
        name: "limit",
        in: "query",
        description: "Threads per page.",
        schema: { type: "integer", minimum: 1, maximum: 100, default: 20 },
      },
      {
        name: "cursor",
        in: "query",
        description: "next_cursor of the page before.",
        schema: { type: "string" },
      },
    ],
    responses: { 200: json("The page.", toJson(threadList)) },
  }),
  get: ({ toJson, thread }) => ({
    summary: "Reads a thread with its messages.",
    responses: { 200: json("The thread.", toJson(thread)) },
  }),
  delete: () => ({
    summary: "Removes a thread.",
    responses: { 204: { description: "The thread was deleted." } },
  }),
  abort: ({ toJson, aborted }) => ({
    summary: "Stops the run of a thread and keeps the thread.",
    responses: {
      200: json("No run was active.", toJson(aborted)),
      202: json("The run is being stopped.", toJson(aborted)),
    },
  }),
  toolResult: ({ toJson, toolResult, received }) => ({
    summary: "Submits what a client tool returned: a result or an error.",
    requestBody: body(toJson(toolResult)),
    responses: { 200: json("The agent received it.", toJson(received)) },
  }),
};

/** An operation of OpenAPI 3.1. Each path of the dialect has separate operations. */
export async function toThreadsOperation(
  name: ThreadOperation,
  place: number,
  settings: ThreadsSettings,
): Promise<Json> {
  const schemas = await loadThreadSchemas(settings);
  const id = `threads${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return {
    operationId: place === 0 ? id : `${id}${place + 1}`,
    tags: ["threads"],
    ...operations[name](schemas),
  };
}

function body(schema: Json): Json {
  return { required: true, content: { "application/json": { schema } } };
}

function json(description: string, schema: Json): Json {
  return { description, content: { "application/json": { schema } } };
}
