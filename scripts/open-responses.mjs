// `SUITE_DIR=… npm run open-responses`: the compliance suite of Open Responses, unchanged, against our server.
// The same rules in our own words are in packages/openai/test/open-responses.test.ts.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { bin, root } from "./lib/workspace.mjs";

const { SUITE_DIR } = process.env;
const suite = SUITE_DIR && join(SUITE_DIR, "bin/compliance-test.ts");
if (!suite || !existsSync(suite)) {
  console.error(
    "Set SUITE_DIR to a clone of github.com/openresponses/openresponses with its dependencies installed.",
  );
  process.exit(2);
}

const server = spawn(
  process.execPath,
  [
    "--conditions=@holodeck/source",
    "--import",
    "tsx",
    "packages/openai/test/_open-responses-server.ts",
  ],
  { cwd: root, stdio: ["ignore", "pipe", "inherit"] },
);
try {
  const [line] = await once(server.stdout, "data");
  const args = ["--base-url", String(line).trim(), "--api-key", "none", "--model", "default"];
  const [node, tsx] = bin("tsx");
  const run = spawn(node, [tsx, suite, ...args, ...process.argv.slice(2)], {
    cwd: SUITE_DIR,
    stdio: "inherit",
  });
  const [code] = await once(run, "exit");
  process.exitCode = code ?? 1;
} finally {
  server.kill();
}
