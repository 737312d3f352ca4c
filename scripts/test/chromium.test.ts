import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const modules = ["chromium.ts", "missing.ts"].map((name) =>
  JSON.stringify(fileURLToPath(new URL(`../test-support/${name}`, import.meta.url))),
);

/** Looks for a browser in a separate process with these variables, and none to install one with. */
function look(env: NodeJS.ProcessEnv): Promise<{ failed: boolean; out: string; err: string }> {
  const script = `
    const { findChromium, howToGetChromium } = await import(${modules[0]});
    const { reportMissing } = await import(${modules[1]});
    const found = findChromium();
    if (found) console.log(found);
    else reportMissing("the page", howToGetChromium);
  `;
  const args = [`--import=${import.meta.resolve("tsx")}`, "--input-type=module", "--eval", script];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env }, (error, out, err) =>
      resolve({ failed: error !== null, out, err }),
    );
  });
}

function emptyFolder(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "no-chromium-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const line = "NOT RUN: the page. It needs chromium: apt-get install chromium.";

test("a browser that is not there is named, and how to get it", async () => {
  const folder = emptyFolder();
  const list = join(folder, "not-run.txt");
  const { failed, err } = await look({ PATH: folder, NOT_RUN_FILE: list });
  expect({ failed, err }).toEqual({ failed: false, err: `${line}\n` });
  // What `npm test` prints at its end.
  expect(readFileSync(list, "utf8")).toBe(`${line}\n`);
});

test("a browser that is not there is a failure in CI", async () => {
  const { failed, err } = await look({ PATH: emptyFolder(), CI: "true" });
  expect(failed).toBe(true);
  expect(err).toContain(line);
});

test("a browser is found by the variable CHROMIUM", async () => {
  const browser = join(emptyFolder(), "my-browser");
  writeFileSync(browser, "#!/bin/sh\n");
  chmodSync(browser, 0o755);
  expect(await look({ PATH: process.env.PATH, CHROMIUM: browser })).toMatchObject({
    failed: false,
    out: `${browser}\n`,
  });
});
