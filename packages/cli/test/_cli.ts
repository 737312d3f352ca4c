import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { createPrinted } from "./_printed.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

const bin = fileURLToPath(new URL("../src/bin.ts", import.meta.url));
const packageFolder = fileURLToPath(new URL("..", import.meta.url));

export interface CliOptions {
  cwd?: string;
  /** Added to a bare environment; `undefined` takes a variable away. */
  env?: Record<string, string | undefined>;
}

/** How a process ended. */
export interface CliEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

export interface Cli {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly pid: number;
  /** What it has printed so far. */
  readonly out: string;
  readonly err: string;
  /** Resolves with the first match in stdout and stderr together; rejects when it ends without one. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  /** On its stdin. */
  type(text: string): void;
  readonly ended: Promise<CliEnd>;
  kill(signal?: NodeJS.Signals): void;
}

/** Starts the real binary from its sources. It is killed at the end of the test if it still runs. */
export function startCli(args: readonly string[], options: CliOptions = {}): Cli {
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(process.execPath, [...sourceFlags, bin, ...args], {
    cwd: options.cwd ?? packageFolder,
    env: { PATH, HOME, TMPDIR, NO_COLOR: "1", ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  const printed = createPrinted(() => `${out}\n${err}`);
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    printed.tell();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
    printed.tell();
  });
  // A process that has ended cannot be written to; its end is what tests look at.
  child.stdin.on("error", () => undefined);

  let end: CliEnd | undefined;
  const ended = once(child, "close").then(([code, signal]: unknown[]): CliEnd => {
    end = { code: code as number | null, signal: signal as NodeJS.Signals | null, out, err };
    printed.end(`It ended (${end.code})`);
    return end;
  });
  onTestFinished(async () => {
    if (end) return;
    child.kill("SIGKILL");
    await ended;
  });

  return {
    child,
    pid: child.pid!,
    get out() {
      return out;
    },
    get err() {
      return err;
    },
    waitFor: printed.waitFor,
    type: (text) => void child.stdin.write(text),
    ended,
    kill: (signal = "SIGTERM") => void child.kill(signal),
  };
}

/** Runs the real binary to its end, with `input` on its stdin. */
export function runCli(
  args: readonly string[],
  options: CliOptions & { input?: string } = {},
): Promise<CliEnd> {
  const cli = startCli(args, options);
  cli.child.stdin.end(options.input ?? "");
  return cli.ended;
}

/** An empty folder that is removed at the end of the test. */
export function scratch(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "holodeck-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
