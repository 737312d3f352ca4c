#!/usr/bin/env node
import { main } from "./main.ts";

process.exitCode = await main(process.argv.slice(2), {
  out: process.stdout,
  err: process.stderr,
  input: process.stdin,
  env: process.env,
  cwd: process.cwd(),
});
