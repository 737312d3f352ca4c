import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, open, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createInputFile } from "@holodeck/agui-core";
import type { FileSpool, FileWriter, InputFile } from "@holodeck/agui-core";
import { openBatchFile } from "../shared/batch-file.ts";
import type { BatchFile } from "../shared/batch-file.ts";

export interface SpoolOptions {
  readonly tempDir?: string | undefined;
  /** Files up to this many bytes stay in memory. */
  readonly memoryBytes: number;
}

const paths = new WeakMap<InputFile, string>();

/** Where a file is on disk; nothing when it is in memory. */
export function diskPathOf(file: InputFile): string | undefined {
  return paths.get(file);
}

/** A file on disk. */
export function createDiskFile(
  about: Pick<InputFile, "name" | "mimeType" | "size">,
  path: string,
): InputFile {
  const file: InputFile = {
    ...about,
    bytes: async () => new Uint8Array(await readFile(path)),
    stream: () => Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>,
  };
  paths.set(file, path);
  return file;
}

/** The first bytes of a file, without the rest of it in memory where that can be helped. */
export async function readHead(file: InputFile, length: number): Promise<Uint8Array> {
  const path = diskPathOf(file);
  if (path === undefined) return (await file.bytes()).subarray(0, length);
  const handle = await open(path, "r");
  try {
    const { buffer, bytesRead } = await handle.read(new Uint8Array(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** The same file under another type. */
export function withType(file: InputFile, mimeType: string): InputFile {
  const { name, size } = file;
  const path = diskPathOf(file);
  if (path !== undefined) return createDiskFile({ name, mimeType, size }, path);
  return { name, mimeType, size, bytes: () => file.bytes(), stream: () => file.stream() };
}

const prefix = "agui-files-";

/** A folder private to one process. */
export async function makeTempFolder(parent: string = tmpdir()): Promise<string> {
  await mkdir(parent, { recursive: true });
  await removeOrphans(parent);
  return mkdtemp(join(parent, `${prefix}${process.pid}-`));
}

const cleaned = new Set<string>();

// What a process left behind that was killed. Once for each folder and process.
async function removeOrphans(parent: string): Promise<void> {
  if (cleaned.has(parent)) return;
  cleaned.add(parent);
  for (const name of await readdir(parent)) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid) || isAlive(pid)) continue;
    // A folder of another user may not be removable.
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code !== "ESRCH";
  }
}

/** A place for the files of one run: large ones in a folder that goes with the run. */
export function createSpool({ tempDir, memoryBytes }: SpoolOptions): FileSpool {
  const unended = new Set<BatchFile>();
  let folder: Promise<string> | undefined;
  let count = 0;

  function openWriter(): FileWriter {
    const chunks: Uint8Array[] = [];
    let size = 0;
    let path = "";
    let file: BatchFile | undefined;

    async function toDisk(): Promise<BatchFile> {
      folder ??= makeTempFolder(tempDir);
      path = join(await folder, String(count++));
      const opened = await openBatchFile(path);
      unended.add(opened);
      for (const chunk of chunks.splice(0)) await opened.write(chunk);
      return opened;
    }

    return {
      async write(bytes) {
        size += bytes.byteLength;
        if (file) return file.write(bytes);
        chunks.push(bytes);
        if (size > memoryBytes) file = await toDisk();
      },
      async end(about) {
        if (!file) return createInputFile(about, new Uint8Array(Buffer.concat(chunks)));
        await file.end();
        unended.delete(file);
        await file.close();
        return createDiskFile({ ...about, size }, path);
      },
    };
  }

  return {
    open: openWriter,
    async release() {
      const made = folder;
      folder = undefined;
      for (const file of unended) await file.close();
      unended.clear();
      // A folder that could not be made is not there.
      const path = await made?.catch(() => undefined);
      if (path !== undefined) await rm(path, { recursive: true, force: true });
    },
  };
}
