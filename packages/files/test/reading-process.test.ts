import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { createFileReader } from "../src/extract/file-reader.ts";
import type { FileReader } from "../src/extract/file-reader.ts";
import { makePdf } from "./_make.ts";
import { millionPages, pdfBomb } from "./_pages.ts";
import { patience } from "./_serve.ts";

const MiB = 1024 * 1024;
const memoryBytes = 256 * MiB;
const script = fileURLToPath(new URL("_reading-child.ts", import.meta.url));
const flags = ["--expose-gc", "--conditions=@holodeck/source", "--import=tsx"];
const timeout = 300_000;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly rss: number;
}

/** What runs on this machine. */
function processes(): Process[] {
  const listed = execFileSync("ps", ["-A", "-o", "pid=,ppid=,rss="], { encoding: "utf8" });
  return listed.split("\n").flatMap((line) => {
    const [pid = 0, parent = 0, rss = 0] = line.trim().split(/\s+/).map(Number);
    return pid === 0 ? [] : [{ pid, parent, rss: rss * 1024 }];
  });
}

const childrenOf = (pid: number): number[] =>
  processes().flatMap((one) => (one.parent === pid ? one.pid : []));

function open(options: { idleMs?: number } = {}): FileReader {
  const reader = createFileReader({
    timeoutMs: timeout,
    memoryBytes,
    workers: 2,
    queue: 10,
    ...options,
  });
  onTestFinished(() => reader.close());
  return reader;
}

function read(reader: FileReader, from: Uint8Array, owner = "ann"): Promise<string> {
  const job = { kind: "pdf" as const, from, maxChars: 1_000, inflatedBytes: 100 * MiB };
  return reader.extract("a.pdf", { ...job, ocr: { language: "eng" } }, { owner });
}

/** The processes that this one has started since. */
function startedSince(before: readonly number[]): number[] {
  // `ps` itself is one while it runs.
  return childrenOf(process.pid).filter((pid) => !before.includes(pid) && isNode(pid));
}

function isNode(pid: number): boolean {
  try {
    const args = ["-p", String(pid), "-o", "args="];
    return execFileSync("ps", args, { encoding: "utf8" }).includes("worker.ts");
  } catch {
    // It has ended.
    return false;
  }
}

describe("memory", () => {
  test("is as after an ordinary file when bombs were refused", { timeout }, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...flags,
      script,
      String(memoryBytes),
    ]);
    const lines = stdout.trim().split("\n");
    const [before, ...after] = lines.map(
      (line) => JSON.parse(line) as { outcome: string; rss: number },
    );
    expect([before!.outcome, ...after.map(({ outcome }) => outcome)]).toEqual([
      "Fine",
      "too-large",
      "too-large",
      "Fine",
    ]);
    // Each bomb has made a process grow by more than all of `memoryBytes`.
    for (const { rss } of after) expect(rss - before!.rss).toBeLessThan(memoryBytes / 4);
  });

  test("of the process that reads is given back with it", { timeout }, async () => {
    const before = childrenOf(process.pid);
    const reader = open();
    expect(await read(reader, await makePdf("Fine"))).toBe("Fine");
    const [first] = startedSince(before);
    expect(first).toBeGreaterThan(0);
    expect(await read(reader, await makePdf("Fine too"))).toBe("Fine too");
    expect(startedSince(before)).toEqual([first]);
    await expect(read(reader, pdfBomb(1024 * MiB))).rejects.toMatchObject({ fault: "too-large" });
    await expect.poll(() => startedSince(before), patience).toEqual([]);
    expect(await read(reader, await makePdf("Fine again"))).toBe("Fine again");
  });
});

describe("the process that reads", () => {
  test("ends when there is nothing to read, and with its host", { timeout }, async () => {
    const before = childrenOf(process.pid);
    const idle = open({ idleMs: 1 });
    await read(idle, await makePdf("Fine"));
    await expect.poll(() => startedSince(before), patience).toEqual([]);
    const host = spawn(process.execPath, [...flags, script, String(memoryBytes)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await createInterface({ input: host.stdout })[Symbol.asyncIterator]().next();
    const [child] = childrenOf(host.pid!);
    expect(child).toBeGreaterThan(0);
    const gone = once(host, "exit");
    host.kill("SIGKILL");
    await gone;
    await expect.poll(() => processes().some(({ pid }) => pid === child), patience).toBe(false);
  });

  test(
    "may be ended by a file: others are read again, and that file once",
    { timeout },
    async () => {
      const before = childrenOf(process.pid);
      const reader = open();
      expect(await read(reader, await makePdf("Fine"))).toBe("Fine");
      const endless = [1, 2].map((at) => {
        const aborter = new AbortController();
        const from = millionPages("");
        const job = { kind: "pdf" as const, from, maxChars: 1_000, inflatedBytes: MiB };
        const by = { owner: `mallory-${at}`, signal: aborter.signal };
        const text = reader.extract("b.pdf", { ...job, ocr: { language: "eng" } }, by);
        text.catch(() => undefined);
        return { text, aborter };
      });
      // Waits for a thread, behind both.
      const waiting = read(reader, await makePdf("Patient"));
      for (const pid of startedSince(before)) process.kill(pid, "SIGKILL");
      endless[0]!.aborter.abort(new Error("left"));
      endless[1]!.aborter.abort(new Error("left"));
      await expect(endless[0]!.text).rejects.toThrow("left");
      expect(await waiting).toBe("Patient");
    },
  );

  test("is not started again and again for a file that ends it", { timeout }, async () => {
    const before = childrenOf(process.pid);
    const reader = open();
    // Where the first one does not start, this process reads.
    expect(await read(reader, await makePdf("Fine"))).toBe("Fine");
    const text = read(reader, millionPages(""));
    let isOver = false;
    const over = text.catch((error: Error) => error).finally(() => (isOver = true));
    const killed = new Set<number>();
    while (!isOver) {
      for (const pid of startedSince(before)) {
        killed.add(pid);
        process.kill(pid, "SIGKILL");
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(await over).toMatchObject({ message: 'The process that read "a.pdf" has ended.' });
    expect(killed.size).toBe(2);
  });
});
