import type { Json } from "@holodeck/agui-core";

/** Problem details as we write them, RFC 9457, as JSON Schema. */
export const problemSchema: Json = {
  type: "object",
  description: "Problem details of RFC 9457.",
  properties: {
    type: { type: "string", format: "uri" },
    title: { type: "string" },
    status: { type: "integer", minimum: 400, maximum: 599 },
    detail: { type: "string" },
    message: { type: "string", description: "The same as `detail`." },
    instance: { type: "string", description: "The requested path." },
    code: { type: "string", description: "The error code, for programs." },
    requestId: { type: "string" },
    errors: {
      type: "array",
      items: {
        type: "object",
        properties: { path: { type: "string" }, message: { type: "string" } },
        required: ["path", "message"],
      },
    },
  },
  required: ["type", "title", "status", "detail", "message", "code", "requestId"],
};

/** Every refusal, whatever its status. */
export const problemResponse: Json = {
  description: "An error, as problem details.",
  content: {
    "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
  },
};
