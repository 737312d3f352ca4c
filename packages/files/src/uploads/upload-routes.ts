import { AgentError } from "@holodeck/agui-core";
import {
  assertOwnForm,
  boundaryOf,
  essenceOf,
  sanitiseName,
  toShareOwner,
  typeOfUpload,
} from "@holodeck/agui-core/internal";
import type { Call, InputFile, Limits, Reply, Route } from "@holodeck/agui-core";
import { openFileForm } from "./file-form.ts";
import { deleteUploadOperation, uploadOperation } from "./upload-operations.ts";
import { uploadTooLarge } from "./upload-store.ts";
import type { UploadStore } from "./upload-store.ts";

export interface UploadRoutesOptions {
  readonly path: string;
  readonly store: UploadStore;
  readonly limits: Limits;
  /** The type of a file, checked against its bytes. */
  check(file: InputFile): Promise<string>;
}

interface Sent {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** If the request declares it. */
  readonly size?: number;
}

/** Take a file, as a body or in a form, answer with the id it can be referred to by, and forget it. */
export function uploadRoutes({ path, store, limits, check }: UploadRoutesOptions): Route[] {
  const { fileBytes } = limits;
  return [
    { method: "POST", path, handle: upload, operation: () => uploadOperation },
    {
      method: "DELETE",
      path: `${path}/:id`,
      handle: forget,
      operation: () => deleteUploadOperation,
    },
  ];

  async function upload(call: Call): Promise<Reply> {
    assertOwnForm(call);
    const { name, mimeType, bytes, size = 0 } = await open(call);
    const { principal, request } = call;
    const stored = await store.put(principal?.id ?? "", {
      name,
      owner: toShareOwner(principal, request.ip),
      bytes,
      maxBytes: fileBytes,
      check: (file) => {
        if (size > file.size) {
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

  async function open(call: Call): Promise<Sent> {
    const contentType = call.header("content-type") ?? "";
    const named = call.query.get("name");
    if (essenceOf(contentType) === "multipart/form-data") {
      const boundary = boundaryOf(contentType);
      const { filename, mediaType, content } = await openFileForm(call.bytes(), {
        boundary,
        fileBytes,
      });
      const name = sanitiseName(named ?? filename, "file");
      return { name, mimeType: typeOfUpload(name, mediaType), bytes: content };
    }
    const size = Number(call.header("content-length") ?? 0);
    if (size > fileBytes) throw uploadTooLarge(fileBytes);
    const name = sanitiseName(named, "file");
    return { name, mimeType: essenceOf(contentType), bytes: call.bytes(), size };
  }

  async function forget(call: Call): Promise<Reply> {
    const { id = "" } = call.params;
    if (await store.delete(call.principal?.id ?? "", id)) return { status: 204 };
    throw new AgentError("file-not-found", `There is no file ${JSON.stringify(id.slice(0, 100))}.`);
  }
}
