import { availableParallelism } from "node:os";
import { SUPPORTED_MIME_TYPES, systemClock } from "@holodeck/agui-core";
import { assertOptions, describeValue, essenceOf } from "@holodeck/agui-core/internal";
import type { Awaitable, Clock, InputFile, Principal } from "@holodeck/agui-core";
import type { FetchedFile, UrlAllowList } from "./fetch-url.ts";
import type { OcrJob } from "../extract/job.ts";
import type { UploadsOptions } from "../uploads/upload-store.ts";

/** The caller that a file is resolved for, and its maximum size. */
export interface ResolveContext {
  readonly principal: Principal | undefined;
  /** Larger ones are refused. */
  readonly maxBytes: number;
  /** The provider that issued the id, if the client sends it. */
  readonly provider?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Gets a file at an address; nothing when there is none for this caller. */
export type ResolveUrl = (
  url: string,
  context: ResolveContext,
) => Awaitable<FetchedFile | undefined>;

/** Gets a file that was uploaded elsewhere; nothing when there is none for this caller. */
export type ResolveFileId = (
  id: string,
  context: ResolveContext,
) => Awaitable<InputFile | FetchedFile | undefined>;

/** Reads one kind of file. Runs on the event loop: what takes long belongs elsewhere. */
export type TextExtractor = (
  file: InputFile,
  context: { readonly signal?: AbortSignal | undefined },
) => Awaitable<string>;

export interface OcrOptions {
  /**
   * Which language the images are in; its data comes from `@tesseract.js-data/<language>`.
   * @default "eng"
   */
  language?: string;
  /** A folder with `<language>.traineddata.gz` instead. */
  langPath?: string;
}

export interface ExtractFilesOptions {
  /** Reads the text in images. By default they go to the agent as they are. */
  ocr?: boolean | OcrOptions;
  /** Types of files that may be sent besides `SUPPORTED_MIME_TYPES`; they are passed through. */
  mimeTypes?: readonly string[];
  /** Custom readers by type, in place of the built-in ones or for other types. */
  extractors?: Readonly<Record<string, TextExtractor>>;
  /**
   * Time for one file; a PDF below 256 KiB has a part of it.
   * @default 30_000
   */
  timeoutMs?: number;
  /**
   * What the process that reads files may grow by; for a PDF below 256 KiB a part of it.
   * @default 512 MiB
   */
  memoryBytes?: number;
  /**
   * How many files are read at the same time, each in a thread. One principal uses at most one thread less, so that its
   * files do not hold up those of others.
   * @default one less than the machine has cores, 2 to 4
   */
  workers?: number;
  /**
   * How many files may wait to be read; past it, the principal who has most waiting gets a 503.
   * @default 100
   */
  queue?: number;
  /**
   * What an Office file may have in it, unpacked.
   * @default 100 MiB
   */
  inflatedBytes?: number;
  /**
   * Files of a form that are larger wait on disk.
   * @default 1 MiB
   */
  spoolBytes?: number;
  /** Where they wait. By default the system's folder for temporary files. */
  tempDir?: string;
  /** Addresses that may be fetched, or how. By default none is. */
  resolveUrl?: UrlAllowList | ResolveUrl;
  /** Finds files by custom ids. */
  resolveFileId?: ResolveFileId;
  /**
   * Accepts uploads at `POST /files`, to be referred to by their id. By default there is no such route.
   */
  uploads?: boolean | UploadsOptions;
  /** For tests that hold time still. */
  clock?: Clock;
}

const MiB = 1024 * 1024;

const optionNames = [
  "ocr",
  "mimeTypes",
  "extractors",
  "timeoutMs",
  "memoryBytes",
  "workers",
  "queue",
  "inflatedBytes",
  "spoolBytes",
  "tempDir",
  "resolveUrl",
  "resolveFileId",
  "uploads",
  "clock",
];

const uploadNames = ["path", "ttlMs", "store", "dir", "maxBytes", "maxFiles"];

/** Options with their defaults. */
export interface FilesSettings {
  readonly ocr: OcrJob | undefined;
  readonly mimeTypes: ReadonlySet<string>;
  readonly extractors: ReadonlyMap<string, TextExtractor>;
  readonly timeoutMs: number;
  readonly memoryBytes: number;
  readonly workers: number;
  readonly queue: number;
  readonly inflatedBytes: number;
  readonly spoolBytes: number;
  readonly tempDir: string | undefined;
  readonly resolveUrl: UrlAllowList | ResolveUrl | undefined;
  readonly resolveFileId: ResolveFileId | undefined;
  readonly uploads: UploadsOptions | undefined;
  readonly clock: Clock;
}

/** Every option with its default; a wrong one is refused with its name and value. */
export function resolveFilesOptions(options: ExtractFilesOptions): FilesSettings {
  assertOptions("extractFiles", options, optionNames);
  const { ocr = false, uploads = false, extractors = {}, mimeTypes = [] } = options;
  const own = Object.entries(extractors);
  for (const [type, extractor] of own) {
    if (typeof extractor !== "function")
      throw wrong(`extractors["${type}"]`, "a function", extractor);
  }
  return {
    ocr: toOcr(ocr),
    mimeTypes: new Set([
      ...SUPPORTED_MIME_TYPES,
      ...toTypes("mimeTypes", mimeTypes),
      ...toTypes("extractors", Object.keys(extractors)),
    ]),
    extractors: new Map(own.map(([type, extractor]) => [essenceOf(type), extractor])),
    timeoutMs: positive("timeoutMs", options.timeoutMs ?? 30_000),
    memoryBytes: positive("memoryBytes", options.memoryBytes ?? 512 * MiB),
    workers: count("workers", options.workers ?? defaultWorkers()),
    queue: count("queue", options.queue ?? 100),
    inflatedBytes: positive("inflatedBytes", options.inflatedBytes ?? 100 * MiB),
    spoolBytes: positive("spoolBytes", options.spoolBytes ?? MiB),
    tempDir: folder("tempDir", options.tempDir),
    resolveUrl: checkUrl(options.resolveUrl),
    resolveFileId: checkFunction("resolveFileId", options.resolveFileId),
    uploads: toUploads(uploads),
    clock: options.clock ?? systemClock,
  };
}

function toOcr(given: boolean | OcrOptions): OcrJob | undefined {
  if (given === false) return undefined;
  if (given === true) return { language: "eng" };
  assertOptions("extractFiles({ ocr })", given, ["language", "langPath"]);
  const { language = "eng", langPath } = given;
  // It becomes part of a package's name.
  if (!/^\w{2,20}$/.test(language)) throw wrong("ocr.language", 'a language like "eng"', language);
  return { language, langPath };
}

function toUploads(given: boolean | UploadsOptions): UploadsOptions | undefined {
  if (given === false) return undefined;
  if (given === true) return {};
  assertOptions("extractFiles({ uploads })", given, uploadNames);
  const { path, ttlMs, store, dir, maxBytes, maxFiles } = given;
  if (store !== undefined && store !== "disk" && store !== "sessions") {
    throw wrong("uploads.store", '"disk" or "sessions"', store);
  }
  folder("uploads.dir", dir);
  if (dir !== undefined && store === "sessions") {
    throw wrong("uploads.dir", 'left out with store: "sessions"', dir);
  }
  if (maxFiles !== undefined && store === "sessions") {
    throw wrong("uploads.maxFiles", 'left out with store: "sessions"', maxFiles);
  }
  if (path !== undefined && !/^\/[^?#]*$/.test(path)) {
    throw wrong("uploads.path", 'a path that starts with "/"', path);
  }
  if (ttlMs !== undefined) positive("uploads.ttlMs", ttlMs);
  if (maxBytes !== undefined) positive("uploads.maxBytes", maxBytes);
  if (maxFiles !== undefined) count("uploads.maxFiles", maxFiles);
  return given;
}

function toTypes(option: string, given: readonly string[]): string[] {
  if (!Array.isArray(given)) throw wrong(option, 'a list of types, such as ["audio/wav"]', given);
  return given.map((type: unknown) => {
    const essence = typeof type === "string" ? essenceOf(type) : "";
    if (/^[\w.+-]+\/[\w.+-]+$/.test(essence)) return essence;
    throw wrong(option, 'of types like "audio/wav"', type);
  });
}

function checkUrl(given: ExtractFilesOptions["resolveUrl"]): FilesSettings["resolveUrl"] {
  if (given === undefined || typeof given === "function") return given;
  assertOptions("extractFiles({ resolveUrl })", given, ["allow", "allowPrivate", "timeoutMs"]);
  const allow: unknown = given.allow;
  if (!Array.isArray(allow)) throw wrong("resolveUrl.allow", "a list of origins", allow);
  for (const origin of allow as unknown[]) {
    const isOrigin =
      typeof origin === "string" && URL.canParse(origin) && new URL(origin).origin === origin;
    if (!isOrigin) {
      throw wrong("resolveUrl.allow", 'of origins like "https://files.example.com"', origin);
    }
  }
  return given;
}

function checkFunction<T>(name: string, value: T): T {
  if (value === undefined || typeof value === "function") return value;
  throw wrong(name, "a function", value);
}

function folder(name: string, value: string | undefined): string | undefined {
  if (value === undefined || (typeof value === "string" && value !== "")) return value;
  throw wrong(name, "the path of a folder", value);
}

function positive(name: string, value: number): number {
  if (typeof value === "number" && value > 0) return value;
  throw wrong(name, "a number above 0", value);
}

function count(name: string, value: number): number {
  if (Number.isInteger(value) && value > 0) return value;
  throw wrong(name, "a whole number above 0", value);
}

function defaultWorkers(): number {
  return Math.max(2, Math.min(4, availableParallelism() - 1));
}

function wrong(name: string, expected: string, value: unknown): TypeError {
  return new TypeError(
    `extractFiles({ ${name} }) must be ${expected}, not ${describeValue(value)}.`,
  );
}
