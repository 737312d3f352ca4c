import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const bin = fileURLToPath(new URL("../src/bin.ts", import.meta.url));
// By its path: the folder that the binary works in need not know tsx.
const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const node = ["--conditions=@holodeck/source", `--import=${tsx}`];

export interface Binary {
  readonly pid: number;
  /** All it has printed so far. */
  readonly out: string;
  readonly err: string;
  /** Its exit code, once it has ended. */
  readonly code: number | null | undefined;
  readonly ended: Promise<number | null>;
  type(text: string): void;
  /** No more is typed. */
  endInput(): void;
  signal(name: NodeJS.Signals): void;
}

export interface BinaryOptions {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
}

const running = new Set<Binary>();

/** Starts the real binary from its sources. */
export function holodeck(args: readonly string[], options: BinaryOptions = {}): Binary {
  const { FORCE_COLOR: _, ...env } = { ...process.env, ...options.env };
  const child = spawn(process.execPath, [...node, bin, ...args], {
    cwd: options.cwd ?? fileURLToPath(new URL("..", import.meta.url)),
    env,
  });
  const text = { out: "", err: "" };
  let code: number | null | undefined;
  child.stdout.on("data", (chunk: Buffer) => void (text.out += chunk.toString("utf8")));
  child.stderr.on("data", (chunk: Buffer) => void (text.err += chunk.toString("utf8")));
  // Whoever types into a process that has ended is told by its exit code.
  child.stdin.on("error", () => {});
  const ended = new Promise<number | null>((resolve) => {
    child.on("close", (given) => {
      code = given;
      running.delete(binary);
      resolve(given);
    });
  });
  const binary: Binary = {
    pid: child.pid!,
    get out() {
      return text.out;
    },
    get err() {
      return text.err;
    },
    get code() {
      return code;
    },
    ended,
    type: (typed) => void child.stdin.write(typed),
    endInput: () => void child.stdin.end(),
    signal: (name) => void child.kill(name),
  };
  running.add(binary);
  return binary;
}

/** Ends, by its id, what a test has left running. */
export async function endAll(): Promise<void> {
  const left = [...running];
  for (const { pid } of left) process.kill(pid, "SIGKILL");
  await Promise.all(left.map(({ ended }) => ended));
}
