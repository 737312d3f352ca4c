import type { FileHandle } from "node:fs/promises";
import { open } from "node:fs/promises";

/** A new file that is written in large pieces, whatever it is given. */
export interface BatchFile {
  /** The bytes are the file's own from now on. */
  write(bytes: Uint8Array): Promise<void>;
  /** Writes what still waits. */
  end(): Promise<void>;
  close(): Promise<void>;
}

// Handing work to another thread costs more than a piece of a socket's size takes to write.
const batchBytes = 512 * 1024;

export async function openBatchFile(path: string): Promise<BatchFile> {
  // Readable by this user only, and an existing file is never overwritten.
  const file = await open(path, "wx", 0o600);
  let waiting: Uint8Array[] = [];
  let size = 0;

  async function flush(): Promise<void> {
    const [batch, bytes] = [waiting, size];
    if (bytes === 0) return;
    waiting = [];
    size = 0;
    await writeAll(file, batch, bytes);
  }

  return {
    async write(bytes) {
      waiting.push(bytes);
      size += bytes.byteLength;
      if (size >= batchBytes) await flush();
    },
    end: flush,
    close: () => file.close(),
  };
}

async function writeAll(file: FileHandle, batch: Uint8Array[], bytes: number): Promise<void> {
  const { bytesWritten } = await file.writev(batch);
  if (bytesWritten < bytes) await file.writeFile(Buffer.concat(batch).subarray(bytesWritten));
}
