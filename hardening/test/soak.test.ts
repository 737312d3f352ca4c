import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { judge } from "../soak/bounds.ts";
import type { Sample } from "../soak/bounds.ts";
import { trendOf } from "../soak/statistics.ts";

const MB = 1e6;

/** Samples of a server whose heap is at that place each minute, and moves a little. */
function samples(
  heapAt: (minute: number) => number,
  more: (minute: number) => Partial<Sample> = () => ({}),
): Sample[] {
  return Array.from({ length: 20 }, (_, minute) => ({
    minutes: minute,
    heapBytes: heapAt(minute) + (minute % 3) * 0.2 * MB,
    resources: { Timeout: 3, TCPServerWrap: 1 },
    p99: 12,
    clientP99: 1,
    runs: 0,
    ...more(minute),
  }));
}

test("a line is found with its slope, and how sure it is", () => {
  const exact = [0, 1, 2, 3].map((x) => ({ x, y: 2 * x + 1 }));
  expect(trendOf(exact)).toEqual({ slope: 2, margin: 0 });
  const noisy = [0, 1, 2, 3].map((x) => ({ x, y: 2 * x + (x % 2) }));
  const { slope, margin } = trendOf(noisy);
  expect(Math.abs(slope - 2)).toBeLessThan(margin);
});

test("a server that is as it was holds", () => {
  expect(
    judge(
      samples(() => 40 * MB),
      {},
    ).broken,
  ).toEqual([]);
});

test.for([
  ["a heap that grows", samples((minute) => (40 + minute) * MB), {}, "the heap grows"],
  [
    "timers that stay",
    samples(
      () => 40 * MB,
      (minute) => ({ resources: { Timeout: minute } }),
    ),
    {},
    "Timeout",
  ],
  [
    "runs that go on",
    samples(
      () => 40 * MB,
      () => ({ runs: 1 }),
    ),
    {},
    "runs go on",
  ],
  [
    "an event loop that is late",
    samples(
      () => 40 * MB,
      () => ({ p99: 400 }),
    ),
    {},
    "event loop",
  ],
  ["handles after the end", samples(() => 40 * MB), { TCPServerWrap: 1 }, "left after closing"],
] as const)("%s is noticed", ([, given, left, expected]) => {
  expect(judge(given, left).broken.join()).toContain(expected);
});

test("an event loop that is late on a machine where everything is late is no fault of the server", () => {
  const busy = samples(
    () => 40 * MB,
    () => ({ p99: 400, clientP99: 300 }),
  );
  expect(judge(busy, {}).broken).toEqual([]);
});

test("a soak of a server that leaks ends with a code other than 0, and names the heap", async () => {
  const main = fileURLToPath(new URL("../soak/main.ts", import.meta.url));
  const flags = ["--conditions=@holodeck/source", "--import", import.meta.resolve("tsx")];
  const child = spawn(process.execPath, [...flags, main, "--minutes", "0.25"], {
    env: { ...process.env, SOAK_LEAK: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  const [code] = (await once(child, "close")) as [number];
  expect(printed).toMatch(/BROKEN: (the heap grows|the server ended)/);
  expect(code).toBe(1);
});
