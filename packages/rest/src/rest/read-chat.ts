import { AgentError, createInputFile } from "@holodeck/agui-core";
import {
  assertOwnForm,
  essenceOf,
  fromBase64,
  sanitiseName,
  sizeOfBase64,
} from "@holodeck/agui-core/internal";
import type { Call, FileSpool, InputFile, Json, Limits } from "@holodeck/agui-core";
import { createChatSchemas, loadZod } from "./chat-schemas.ts";
import type { ChatBounds, ChatSchemas, FileContent } from "./chat-schemas.ts";
import { readMultipart } from "./read-multipart.ts";
import { refusal, payloadTooLarge, tooManyFiles } from "./refusal.ts";
import type { ChatFault } from "./refusal.ts";
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
  schemas(): Promise<ChatSchemas>;
}

/** Reads requests within some bounds. */
export function createChatReader(bounds: ChatBounds, limits: Limits): ChatReader {
  let made: ChatSchemas | undefined;
  const schemas = async (): Promise<ChatSchemas> =>
    (made ??= createChatSchemas(await loadZod(), bounds));

  return {
    schemas,
    read(call, upload) {
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

  async function checkForm(form: Json, files: readonly InputFile[]): Promise<AskedChat> {
    // A form has no null; a field that was left empty is one.
    if (form["session_id"] === "") delete form["session_id"];
    const { message, session_id } = check((await schemas()).form, form);
    return { message, sessionId: session_id ?? undefined, files, ignored: unknownIn(form) };
  }

  async function readJson(body: unknown): Promise<AskedChat> {
    if (typeof body !== "object" || body === null || Array.isArray(body)) {
      throw new AgentError("invalid-request", "The body must be a JSON object.");
    }
    const sent = (body as { files?: unknown }).files;
    // Before each of them is looked at: a small body can hold millions.
    if (Array.isArray(sent) && sent.length > bounds.files) {
      throw refusal([tooManyFiles(bounds.files)]);
    }
    const { message, session_id, files } = check((made ?? (await schemas())).request, body);
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

interface Checking<T> {
  safeParse(value: unknown): { data?: T | undefined; error?: { issues: readonly Issue[] } };
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly params?: { isMimeType?: boolean } | undefined;
}

function check<T>(schema: Checking<T>, value: unknown): T {
  const { data, error } = schema.safeParse(value);
  if (data !== undefined) return data;
  throw refusal((error?.issues ?? []).map(toFault));
}

function toFault({ path, message, params }: Issue): ChatFault {
  const isMimeType = params?.isMimeType === true;
  return { path: path.map(String).join("."), message, isMimeType };
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
