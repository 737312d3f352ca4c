import { AgentError, SUPPORTED_MIME_TYPES } from "@holodeck/agui-core";
import { essenceOf, quoteText } from "@holodeck/agui-core/internal";
import type {
  Awaitable,
  FileJob,
  FileProcessor,
  FileSpool,
  InputFile,
  Message,
  ProcessedFiles,
} from "@holodeck/agui-core";
import { composeUserMessage } from "./compose.ts";
import type { ReadFile, UserMessage } from "./compose.ts";
import { decodeText } from "../extract/decode-text.ts";
import { createFileReader } from "../extract/file-reader.ts";
import { assertFileCounts, createFileBudget } from "./file-budget.ts";
import { FileError } from "../shared/file-error.ts";
import type { ExtractKind } from "../extract/job.ts";
import { resolveFilesOptions } from "./options.ts";
import type { ExtractFilesOptions } from "./options.ts";
import { isFilePart, resolvePart } from "./resolve.ts";
import type { FilePart, Resolver } from "./resolve.ts";
import { isContainer, typeOf } from "../extract/sniff.ts";
import { createSpool, diskPathOf, readHead, withType } from "../uploads/spool.ts";
import { createTextCache } from "../extract/text-cache.ts";
import { uploadRoutes } from "../uploads/upload-routes.ts";
import { openUploads } from "../uploads/open-uploads.ts";

const kinds: ReadonlyMap<string, ExtractKind> = new Map<string, ExtractKind>(
  SUPPORTED_MIME_TYPES.slice(0, 8).map((type, at) => [
    type,
    (["ocr", "ocr", "ocr", "ocr", "pdf", "docx", "xlsx", "pptx"] as const)[at]!,
  ]),
);

const headBytes = 64 * 1024;

/**
 * Turns what clients upload into text under `## File: name`, whatever the protocol: PDF, Word, Excel,
 * PowerPoint, CSV, Markdown, text and, with `ocr`, images. The files themselves are in `context.files`.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, { files: extractFiles({ ocr: true }) });
 * ```
 */
export function extractFiles(options: ExtractFilesOptions = {}): FileProcessor {
  const settings = resolveFilesOptions(options);
  const { clock, tempDir, spoolBytes, mimeTypes } = settings;
  const { timeoutMs, memoryBytes, workers, queue } = settings;
  const reader = createFileReader({ timeoutMs, memoryBytes, workers, queue });
  const cache = createTextCache();
  const newSpool = (): FileSpool => createSpool({ tempDir, memoryBytes: spoolBytes });
  const uploads =
    settings.uploads && openUploads(settings.uploads, { clock, tempDir, spool: newSpool });

  async function checked(file: InputFile): Promise<InputFile> {
    const mimeType = await typeOfFile(file);
    return mimeType === file.mimeType ? file : withType(file, mimeType);
  }

  async function typeOfFile(file: InputFile): Promise<string> {
    const { name } = file;
    const declared = essenceOf(file.mimeType);
    const head = await readHead(file, headBytes);
    // The type of a container is determined by its end.
    const mimeType = typeOf(file, isContainer(head) ? await file.bytes() : head);
    if (mimeTypes.has(mimeType)) return mimeType;
    const message = `Unsupported MIME type: ${declared === "" ? mimeType : declared.slice(0, 100)}`;
    throw new FileError(name, "unsupported", `${message} (${quoteText(name, 100)})`);
  }

  async function read(file: InputFile, job: FileJob): Promise<string | undefined> {
    const { mimeType, name, size } = file;
    const { signal, limits } = job;
    const own = settings.extractors.get(mimeType);
    if (own) return own(file, { signal });
    const maxChars = limits.messageChars;
    if (mimeType.startsWith("text/") && SUPPORTED_MIME_TYPES.includes(mimeType)) {
      // Decoding more than can be kept is useless; a character has at most four bytes.
      return decodeText(await readHead(file, 4 * maxChars + 4));
    }
    const kind = kinds.get(mimeType);
    if (kind === undefined || (kind === "ocr" && !settings.ocr)) return undefined;
    const from = diskPathOf(file) ?? (await file.bytes());
    const key = typeof from === "string" ? undefined : await keyOf(from, kind, maxChars);
    const known = key && cache.get(key);
    if (known !== undefined) return known;
    const { inflatedBytes, ocr = { language: "eng" } } = settings;
    const text = await reader.extract(
      name,
      { kind, from, maxChars, inflatedBytes, ocr },
      { owner: job.caller, signal },
    );
    // Silence would look like a file that was lost.
    const shown = text.trim() === "" ? `[${mimeType}, ${size} bytes, without text]` : text;
    if (key !== undefined) cache.set(key, shown);
    return shown;
  }

  async function process(job: FileJob): Promise<ProcessedFiles> {
    const spool = newSpool();
    const release = (): Awaitable<void> => spool.release();
    try {
      const resolver: Resolver = {
        settings,
        uploads: uploads?.of(job.sessions),
        spool,
        budget: createFileBudget(job.limits),
        found: new Map(),
      };
      return { ...(await processWith(resolver, job)), release };
    } catch (error) {
      await release();
      throw error;
    }
  }

  async function processWith(
    resolver: Resolver,
    job: FileJob,
  ): Promise<Omit<ProcessedFiles, "release">> {
    const messages = new Map<Message, Message>();
    const files: InputFile[] = [];
    const { limits, logger, requestId, uploads: sent } = job;
    const last = sent.length === 0 ? undefined : job.input.messages.findLast(isUser);
    if (sent.length > 0 && !last)
      throw new AgentError("invalid-request", "Files need a user message to belong to.");
    let room = limits.inlineFileBytes;

    async function readMessage(message: UserMessage): Promise<ReadFile[]> {
      const parts = filePartsOf(message);
      const beside = message === last ? sent : [];
      const found: ReadFile[] = [];
      for (const part of parts) {
        const fallback = `file-${files.length + 1}`;
        const file = await resolvePart(part, resolver, { ...job, fallback });
        if (part.source.type === "data") {
          room -= file.size;
          resolver.budget.take(file.size);
        }
        if (room < 0) {
          const detail = `The files in the messages are larger than ${limits.inlineFileBytes} bytes.`;
          throw new AgentError("payload-too-large", detail);
        }
        found.push(await readOne(file, part));
      }
      for (const file of beside) {
        resolver.budget.take(file.size);
        found.push(await readOne(file, undefined));
      }
      return found;
    }

    async function readOne(file: InputFile, part: ReadFile["part"]): Promise<ReadFile> {
      if (file.size > limits.fileBytes) {
        const { name } = file;
        const detail = `${quoteText(name, 100)} is larger than ${limits.fileBytes} bytes.`;
        throw new FileError(name, "too-large", detail);
      }
      const known = await checked(file);
      files.push(known);
      return { file: known, part, text: await read(known, job) };
    }

    const users = job.input.messages.filter(isUser);
    const counts = users.map(
      (message) => filePartsOf(message).length + (message === last ? sent.length : 0),
    );
    assertFileCounts(counts, limits);
    for (const message of users) {
      const found = await readMessage(message);
      if (found.length === 0) continue;
      const composed = await composeUserMessage(message, found, {
        maxChars: limits.messageChars,
        inlineBytes: limits.inlineFileBytes,
        onCut: () => logger.warn({ requestId }, "The text of the files was truncated."),
      });
      if (composed !== message) messages.set(message, composed);
    }
    return { messages, files };
  }

  return {
    mimeTypes: [...mimeTypes],
    process,
    spool: newSpool,
    routes({ limits, sessions }) {
      if (!uploads) return [];
      const { path = "/files" } = settings.uploads ?? {};
      return uploadRoutes({ path, store: uploads.of(sessions), limits, check: typeOfFile });
    },
    async close() {
      await reader.close();
      await uploads?.close();
    },
  };
}

function filePartsOf({ content }: UserMessage): readonly FilePart[] {
  return typeof content === "string" ? [] : content.filter(isFilePart);
}

function isUser(message: Message): message is UserMessage {
  return message.role === "user";
}

// Off the event loop, as everything that walks through a whole file.
async function keyOf(bytes: Uint8Array, kind: ExtractKind, maxChars: number): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return `${kind}:${maxChars}:${Buffer.from(digest).toString("base64")}`;
}
