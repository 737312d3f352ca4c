import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

const MB = 1_000_000;

test("1,000 threads of 1 MB with memoryBytes of 256 MiB fit into a heap of 300 MB, the newest are kept", async () => {
  const script = fileURLToPath(new URL("_memory-child.ts", import.meta.url));
  // Node ends a process that holds more than this.
  const heap = "--max-old-space-size=300";
  const flags = [heap, ...sourceFlags];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, script]);
  const { rss, kept } = JSON.parse(stdout) as { rss: number; kept: number[] };
  process.stdout.write(`${kept.length} threads of 1 MB kept, RSS at most ${rss / MB} MB.\n`);
  expect(rss).toBeLessThan(600 * MB);
  expect(kept.length).toBeGreaterThan(80);
  expect(kept).toEqual(kept.map((_, index) => 1_000 - kept.length + index));
}, 300_000);
