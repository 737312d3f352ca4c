import { AgentError, assertOwnForm, essenceOf, sanitiseName } from "@holodeck/agui-core";
import type { Call, InputFile, Limits, Reply, Route } from "@holodeck/agui-core";
import type { UploadStore } from "./uploads.ts";

export interface UploadRouteOptions {
  readonly path: string;
  readonly store: UploadStore;
  readonly limits: Limits;
  /** The type of a file, checked against its bytes. */
  check(file: InputFile): Promise<string>;
}

/** Takes a file as the body of a request and answers with the id it can be referred to by. */
export function uploadRoute({ path, store, limits, check }: UploadRouteOptions): Route {
  return { method: "POST", path, handle, operation: () => operation };

  async function handle(call: Call): Promise<Reply> {
    assertOwnForm(call);
    const mimeType = essenceOf(call.header("content-type") ?? "");
    if (mimeType.startsWith("multipart/")) {
      throw new AgentError(
        "unsupported-media-type",
        "Send the file itself as the body, not a form.",
      );
    }
    const declared = Number(call.header("content-length") ?? Number.NaN);
    if (declared > limits.fileBytes) {
      throw new AgentError("payload-too-large", `A file is larger than ${limits.fileBytes} bytes.`);
    }
    const name = sanitiseName(call.query.get("name"), "file");
    const stored = await store.put(call.principal?.id ?? "", {
      name,
      bytes: call.bytes(),
      maxBytes: limits.fileBytes,
      check: (file) => {
        if (declared > file.size) {
          throw new AgentError("invalid-request", "The upload ended before it was complete.");
        }
        return check({ ...file, mimeType });
      },
    });
    const expiresAt = new Date(stored.expiresAt).toISOString();
    return {
      status: 201,
      headers: { "cache-control": "no-store" },
      body: { ...stored, expiresAt },
    };
  }
}

const text = { type: "string" };

const operation = {
  operationId: "uploadFile",
  summary: "Upload a file once and refer to it by its id",
  tags: ["files"],
  parameters: [{ name: "name", in: "query", schema: text, description: "The name of the file." }],
  requestBody: {
    required: true,
    content: { "*/*": { schema: { type: "string", format: "binary" } } },
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
