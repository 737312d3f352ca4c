import type { Json } from "@holodeck/agui-core";
import { createChatSchemas, loadZod } from "./chat-schemas.ts";
import type { ChatSchemas } from "./chat-schemas.ts";
import type { ChatBounds } from "./check-chat.ts";

const tags = ["rest"];

/** The OpenAPI operation of `POST …/chat`, or of its streaming sister. */
export async function restChatOperation(
  bounds: ChatBounds,
  about: { readonly operationId: string; readonly isStream: boolean },
): Promise<Json> {
  const schemas = createChatSchemas(await loadZod(), bounds);
  const { operationId, isStream } = about;
  const schemaOf = (schema: ChatSchemas["response"], io: "input" | "output"): unknown => {
    // The document itself declares its version of JSON Schema.
    const { $schema: _, ...made } = schemas.z.toJSONSchema(schema, { io });
    return made;
  };
  return {
    operationId,
    summary: isStream ? "Asks an agent and streams its answer." : "Asks an agent.",
    tags,
    requestBody: {
      required: true,
      content: {
        "application/json": { schema: schemaOf(schemas.request, "input") },
        "multipart/form-data": { schema: schemaOf(schemas.formWithFiles, "input") },
      },
    },
    responses: {
      "200": isStream
        ? {
            description:
              "Server-sent events: stream_start, message_delta, tool_call_start, tool_call_args, " +
              "tool_call_end, and at the end stream_end or error.",
            content: { "text/event-stream": { schema: { type: "string" } } },
          }
        : {
            description: "The whole answer.",
            content: { "application/json": { schema: schemaOf(schemas.response, "output") } },
          },
    },
  };
}

/** The OpenAPI operation of `DELETE …/sessions/:id`. */
export function deleteOperation(operationId: string): Json {
  return {
    operationId,
    summary: "Forgets a session.",
    tags,
    responses: { "204": { description: "The session does not exist." } },
  };
}
