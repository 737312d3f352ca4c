import { createInputFile, isAgentError } from "@holodeck/agui-core";
import { quoteText, sanitiseName, sizeOfBase64 } from "@holodeck/agui-core/internal";
import type { FileJob, FileSpool, InputFile } from "@holodeck/agui-core";
import type { ComposedPart } from "./compose.ts";
import type { FileBudget } from "./file-budget.ts";
import { fetchUrl, FileTooLarge } from "./fetch-url.ts";
import type { FetchedFile } from "./fetch-url.ts";
import { FileError } from "../shared/file-error.ts";
import type { FilesSettings, ResolveContext } from "./options.ts";
import type { UploadStore } from "../uploads/upload-store.ts";

/** A part of a message that is, or refers to, a file. */
export type FilePart = Extract<ComposedPart, { source: unknown }>;

export function isFilePart(part: ComposedPart): part is FilePart {
  return part.type !== "text" && "source" in part;
}

export interface Resolver {
  readonly settings: FilesSettings;
  readonly uploads: UploadStore | undefined;
  /** For what has to be brought here, until the run has ended. */
  readonly spool: FileSpool;
  readonly budget: FileBudget;
  /** What was found so far: however often a request refers to a file, it is brought here once. */
  readonly found: Map<string, Promise<InputFile | FetchedFile | undefined>>;
}

/** The file of a part, wherever it is; a reference that leads nowhere is refused. */
export async function resolvePart(
  part: FilePart,
  resolver: Resolver,
  job: FileJob & { readonly fallback: string },
): Promise<InputFile> {
  const { source } = part;
  const { budget } = resolver;
  const given = (part.metadata as { filename?: unknown } | undefined)?.filename;
  const name = sanitiseName(typeof given === "string" ? given : undefined, job.fallback);
  switch (source.type) {
    case "data":
      return toFile(source, name);
    case "url": {
      const fetched = await once(`url ${source.value}`, () => byUrl(source.value));
      if (!fetched)
        throw unresolved(
          name,
          `this server does not fetch the address ${quoteText(source.value, 100)}`,
        );
      return isInputFile(fetched)
        ? fetched
        : keep(fetched, { name: given === undefined ? undefined : name, ...source }, job);
    }
    default: {
      const { value: id } = source;
      const { provider } = source as { provider?: string };
      const found = await once(`id ${provider ?? ""} ${id}`, () => byId(id, provider));
      if (!found) throw unresolved(name, `there is no file ${quoteText(id, 100)}`);
      return isInputFile(found) ? found : keep(found, { name, ...source }, job);
    }
  }

  function once(
    key: string,
    find: () => Promise<InputFile | FetchedFile | undefined>,
  ): Promise<InputFile | FetchedFile | undefined> {
    let finding = resolver.found.get(key);
    if (!finding) resolver.found.set(key, (finding = find()));
    return finding;
  }

  async function byId(
    id: string,
    provider: string | undefined,
  ): Promise<InputFile | FetchedFile | undefined> {
    const { uploads, spool, settings } = resolver;
    const upload = await uploads?.get(job.principal?.id ?? "", id, { spool, admit: budget.take });
    if (upload) return upload;
    return counted(await settings.resolveFileId?.(id, { ...contextOf(), provider }));
  }

  async function byUrl(url: string): Promise<FetchedFile | undefined> {
    const { resolveUrl } = resolver.settings;
    if (!resolveUrl) return undefined;
    const context = contextOf();
    if (typeof resolveUrl === "function") return counted(await resolveUrl(url, context));
    try {
      return counted(await fetchUrl(url, resolveUrl, context));
    } catch (error) {
      if (context.signal?.aborted) throw context.signal.reason;
      if (isAgentError(error)) throw error;
      if (error instanceof FileTooLarge && context.maxBytes < job.limits.fileBytes)
        throw budget.error();
      // The reason is for the host's log: details of a network error would reveal the network to a
      // client.
      job.logger.warn({ error, requestId: job.requestId, url }, "A file was not fetched.");
      return undefined;
    }
  }

  function contextOf(): ResolveContext {
    const { principal, limits, signal } = job;
    return { principal, maxBytes: Math.min(limits.fileBytes, budget.left()), signal };
  }

  function counted<T extends InputFile | FetchedFile>(file: T | undefined): T | undefined {
    if (file) budget.take(isInputFile(file) ? file.size : file.bytes.byteLength);
    return file;
  }
}

// Decoded when it is asked for: a history brings its files along with every turn.
function toFile(source: { value: string; mimeType: string }, name: string): InputFile {
  const { value, mimeType } = source;
  const size = sizeOfBase64(value);
  if (size === undefined) {
    throw new FileError(name, "not-base64", `${quoteText(name, 100)} is not valid base64.`);
  }
  const file = (): InputFile =>
    createInputFile({ name, mimeType }, new Uint8Array(Buffer.from(value, "base64")));
  return {
    name,
    mimeType,
    size,
    bytes: async () => file().bytes(),
    stream: () => file().stream(),
  };
}

function keep(
  { bytes, mimeType, name }: FetchedFile,
  claim: { name?: string | undefined; mimeType?: string | undefined },
  { limits, fallback }: FileJob & { fallback: string },
): InputFile {
  const known = claim.name ?? sanitiseName(name, fallback);
  if (bytes.byteLength > limits.fileBytes) {
    const message = `${quoteText(known, 100)} is larger than ${limits.fileBytes} bytes.`;
    throw new FileError(known, "too-large", message);
  }
  const type = mimeType ?? claim.mimeType ?? "";
  return createInputFile({ name: known, mimeType: type }, bytes as Uint8Array<ArrayBuffer>);
}

function isInputFile(found: InputFile | FetchedFile): found is InputFile {
  return typeof found.bytes === "function";
}

function unresolved(name: string, reason: string): FileError {
  return new FileError(name, "unresolved", `${quoteText(name, 100)} cannot be read: ${reason}.`);
}
