import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

interface Report {
  testResults: {
    assertionResults: { status: string; ancestorTitles: string[]; title: string }[];
  }[];
}

const vitest = join(
  dirname(createRequire(import.meta.url).resolve("vitest/package.json")),
  "vitest.mjs",
);
const config = fileURLToPath(new URL("broken/vitest.config.ts", import.meta.url));

/** Runs the suites on broken things, in a process of their own, and tells what failed. */
async function findFailures(): Promise<Record<string, string[]>> {
  const args = [vitest, "run", "--config", config, "--reporter=json"];
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 2 ** 26 }, (_, stdout) => resolve(stdout));
  });
  const { testResults } = JSON.parse(output.slice(output.indexOf("{"))) as Report;
  const failures: Record<string, string[]> = {};
  for (const { status, ancestorTitles, title } of testResults.flatMap(
    (one) => one.assertionResults,
  )) {
    if (status === "failed") (failures[ancestorTitles.at(-1)!] ??= []).push(title);
  }
  return failures;
}

const pure = "says the same of the same log, whenever and however often it is asked";
const stateless = "remembers nothing from one entry to the next";

test("the suites find out what is broken, and nothing else", { timeout: 60_000 }, async () => {
  const { "encoder: writes into the log": meddling, ...others } = await findFailures();
  expect(meddling).toContain(pure);
  expect(others).toEqual({
    "encoder: forgets a kind": ["has a word for RAW"],
    "encoder: drops less than it says": ["drops what it says it drops"],
    "encoder: draws random ids": [pure, stateless],
    "encoder: reads the clock": expect.arrayContaining([pure]),
    "encoder: believes that there is always a snapshot": [
      pure,
      "takes nothing where something may be",
      stateless,
    ],
    "encoder: remembers in spite of its key": [stateless],
    "encoder: breaks its frames": ["makes at most one frame of an entry"],
    "encoder: cannot be read": ["makes what its clients can read"],
    "protocol: ends twice": [
      "tells a run with every kind of event",
      "ends once when the agent says nothing",
      "ends once when the agent throws at once",
      "ends once when the agent throws in mid-sentence",
      "ends once when the agent says that it failed",
      "ends once when the agent speaks after the end",
      "ends once when the agent leaves things open",
    ],
    "protocol: speaks when idle": ["keeps an idle client alive without telling it anything"],
    "protocol: is silent when idle": ["keeps an idle client alive without telling it anything"],
    "protocol: starts over": [
      "tells a finished run again from everywhere",
      "lets clients in everywhere while the run goes on",
    ],
    "protocol: does not stop": ["stops a run"],
  });
});
