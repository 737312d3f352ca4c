#!/usr/bin/env node
import { main } from "./main.ts";

process.exitCode = await main(process.argv.slice(2), {
  out: process.stdout,
  err: process.stderr,
  input: process.stdin,
  env: process.env,
  cwd: process.cwd(),
});

// What an agent file has left running must not keep the process; what was printed must get out first.
const lastMs = 500;
process.stdout.write("", () => setTimeout(() => process.exit(), lastMs).unref());
