// Prints what becomes of answers through a proxy that cuts connections at random bytes:
// npm run unbroken [-- --answers 1000]
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { bin, root } from "./lib/workspace.mjs";

const { values } = parseArgs({ options: { answers: { type: "string", default: "1000" } } });
const [command, ...args] = [
  ...bin("vitest", "vitest.mjs"),
  "run",
  "packages/client/test/unbroken.test.ts",
];
const { stdout, status } = spawnSync(command, args, {
  cwd: root,
  env: { ...process.env, UNBROKEN_ANSWERS: values.answers, NO_COLOR: "1" },
  encoding: "utf8",
  stdio: ["ignore", "pipe", "inherit"],
});
const lines = stdout.split("\n").filter((line) => /^(unbroken|grace): /.test(line));
console.log(status === 0 ? lines.join("\n") : stdout);
process.exitCode = status ?? 1;
