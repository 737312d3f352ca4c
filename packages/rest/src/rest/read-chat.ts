import { AgentError, createInputFile } from "@holodeck/agui-core";
import {
  assertOwnForm,
  essenceOf,
  fromBase64,
  isRecord,
  sanitiseName,
  sizeOfBase64,
} from "@holodeck/agui-core/internal";
import type { Call, FileSpool, InputFile, Json, Limits } from "@holodeck/agui-core";
import { checkChat } from "./check-chat.ts";
import type { ChatBounds, FileContent } from "./check-chat.ts";
import { readMultipart } from "./read-multipart.ts";
import { refusal, payloadTooLarge, tooManyFiles } from "./refusal.ts";
import type { UploadShare } from "./upload-budget.ts";

/** A request for an answer, understood. */
interface AskedChat {
  readonly message: string;
  readonly sessionId: string | undefined;
  readonly files: readonly InputFile[];
  /** Members of the body that mean nothing here. */
  readonly ignored: readonly string[];
}

/** What the files of one request may take, and where they wait. */
export interface Upload {
  readonly share: UploadShare;
  /** Absent: in memory. */
  readonly spool: FileSpool | undefined;
}

export interface ChatReader {
  /** Reads JSON or a form; refuses a wrong one with everything that is wrong with it. */
  read(call: Call, upload: Upload | undefined): Promise<AskedChat>;
}

/** Reads requests within some bounds. */
export function createChatReader(bounds: ChatBounds, limits: Limits): ChatReader {
  return {
    async read(call, upload) {
      return upload ? readForm(call, upload) : readJson(call.body);
    },
  };

  async function readForm(call: Call, { share, spool }: Upload): Promise<AskedChat> {
    assertOwnForm(call);
    const form = {
      header: (name: string) => call.header(name),
      bytes: () => counted(call.bytes(), share),
    };
    const { fields, files } = await readMultipart(form, limits, {
      accepts: (mimeType) => bounds.mimeTypes.has(mimeType),
      spool,
    });
    return checkForm(Object.fromEntries(fields), files);
  }

  function checkForm(form: Json, files: readonly InputFile[]): AskedChat {
    // A form has no null; a field that was left empty is one.
    if (form["session_id"] === "") delete form["session_id"];
    const { message: sent, session_id: id } = form;
    const { message, session_id } = checkChat({ message: sent, session_id: id }, bounds);
    return { message, sessionId: session_id ?? undefined, files, ignored: unknownIn(form) };
  }

  function readJson(body: unknown): AskedChat {
    if (!isRecord(body)) {
      throw new AgentError("invalid-request", "The body must be a JSON object.");
    }
    const { files: sent } = body;
    // Before each of them is looked at: a small body can hold millions.
    if (Array.isArray(sent) && sent.length > bounds.files) {
      throw refusal([tooManyFiles(bounds.files)]);
    }
    const { message, session_id, files } = checkChat(body, bounds);
    return {
      message,
      sessionId: session_id ?? undefined,
      files: decodeFiles(files ?? [], limits),
      ignored: unknownIn(body),
    };
  }
}

async function* counted(
  bytes: AsyncIterable<Uint8Array>,
  share: UploadShare,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of bytes) {
    share.take(chunk.byteLength);
    yield chunk;
  }
}

// Sizes are known before anything is decoded.
function decodeFiles(files: readonly FileContent[], limits: Limits): InputFile[] {
  const { fileBytes, inlineFileBytes } = limits;
  let total = 0;
  for (const { content } of files) {
    const size = sizeOfBase64(content) ?? 0;
    total += size;
    if (size > fileBytes) throw payloadTooLarge(`A file is larger than ${fileBytes} bytes.`);
    if (total > inlineFileBytes) {
      throw payloadTooLarge(
        `The files in the JSON are larger than ${inlineFileBytes} bytes; send them as multipart/form-data.`,
      );
    }
  }
  return files.map(({ content, mime_type, filename }, index) => {
    const name = sanitiseName(filename, `file-${index + 1}`);
    return createInputFile({ name, mimeType: essenceOf(mime_type) }, fromBase64(content));
  });
}

const nothing: readonly string[] = [];
const known = new Set(["message", "session_id", "files"]);

function unknownIn(body: object): readonly string[] {
  let names: string[] | undefined;
  for (const key in body) {
    if (known.has(key)) continue;
    (names ??= []).push(key.slice(0, 40));
    if (names.length === 20) break;
  }
  return names ?? nothing;
}
