import type { Json } from "@holodeck/agui-core";

const text = { type: "string" };
const binary = { type: "string", format: "binary" };

/** `POST /files` in a document of OpenAPI. */
export const uploadOperation: Json = {
  operationId: "uploadFile",
  summary: "Upload a file once and refer to it by its id",
  tags: ["files"],
  parameters: [{ name: "name", in: "query", schema: text, description: "The name of the file." }],
  requestBody: {
    required: true,
    content: {
      "multipart/form-data": {
        schema: { type: "object", required: ["file"], properties: { file: binary } },
      },
      "*/*": { schema: binary },
    },
  },
  responses: {
    "201": {
      description: "The file is kept until it expires.",
      content: {
        "application/json": {
          schema: {
            type: "object",
            required: ["id", "name", "mimeType", "size", "expiresAt"],
            properties: {
              id: text,
              name: text,
              mimeType: text,
              size: { type: "integer" },
              expiresAt: { type: "string", format: "date-time" },
            },
          },
        },
      },
    },
  },
};

/** `DELETE /files/:id` in a document of OpenAPI. */
export const deleteUploadOperation: Json = {
  operationId: "deleteFile",
  summary: "Remove an upload before it expires",
  tags: ["files"],
  responses: { "204": { description: "The file is gone." } },
};
