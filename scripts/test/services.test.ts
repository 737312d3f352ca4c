import { execFile } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { services } from "../test-support/services.ts";
import type { ServiceName } from "../test-support/services.ts";
import { sourceFlags } from "../test-support/source-flags.ts";

const module = JSON.stringify(
  fileURLToPath(new URL("../test-support/services.ts", import.meta.url)),
);

/** Looks for a service in a separate process with these variables. */
function look(
  name: ServiceName,
  env: NodeJS.ProcessEnv,
): Promise<{ failed: boolean; out: string; err: string }> {
  const script = `
    const { findService } = await import(${module});
    console.log(findService(${JSON.stringify(name)}, "the page"));
  `;
  const args = [...sourceFlags, "--input-type=module", "--eval", script];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env }, (error, out, err) =>
      resolve({ failed: error !== null, out, err }),
    );
  });
}

function emptyFolder(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "no-services-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const line = "NOT RUN: the page. It needs Chromium: npm run setup:services.";

test("a service that is not there is named, and how to get it", async () => {
  const folder = emptyFolder();
  const list = join(folder, "not-run.jsonl");
  const { failed, err } = await look("chromium", { PATH: folder, NOT_RUN_FILE: list });
  expect({ failed, err }).toEqual({ failed: false, err: `${line}\n` });
  // What `npm test` reads at its end.
  expect(JSON.parse(readFileSync(list, "utf8"))).toEqual({
    suite: "the page",
    missing: "Chromium",
  });
});

test("a service that is not there is a failure in CI", async () => {
  const { failed, err } = await look("chromium", { PATH: emptyFolder(), CI: "true" });
  expect(failed).toBe(true);
  expect(err).toContain(line);
});

test("nothing is installed to find a service", async () => {
  const folder = emptyFolder();
  const list = join(folder, "called");
  for (const name of ["apt-get", "sudo", "npm"]) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho "$0 $@" >> ${list}\n`, { mode: 0o755 });
  }
  for (const name of Object.keys(services) as ServiceName[]) {
    const { failed } = await look(name, { PATH: folder });
    expect(failed, name).toBe(false);
  }
  expect(existsSync(list)).toBe(false);
});

test("a service is found by its variable", async () => {
  const browser = join(emptyFolder(), "my-browser");
  writeFileSync(browser, "#!/bin/sh\n", { mode: 0o755 });
  expect(await look("chromium", { PATH: process.env.PATH, CHROMIUM: browser })).toMatchObject({
    failed: false,
    out: `${browser}\n`,
  });
});
