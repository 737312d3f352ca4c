import { PassThrough, Readable } from "node:stream";
import { main } from "../src/index.ts";

export interface MainResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command line in this process; nobody types anything. */
export function runMain(...args: string[]): Promise<MainResult> {
  return typeTo(args, []);
}

/** Runs the command line in this process with these lines as its input. */
export async function typeTo(
  args: readonly string[],
  lines: readonly string[],
  cwd: string = process.cwd(),
): Promise<MainResult> {
  const out = new PassThrough();
  const err = new PassThrough();
  const text = { out: "", err: "" };
  out.on("data", (chunk: Buffer) => void (text.out += chunk.toString("utf8")));
  err.on("data", (chunk: Buffer) => void (text.err += chunk.toString("utf8")));
  const input = Readable.from(lines.map((line) => `${line}\n`));
  const code = await main(args, { out, err, input, env: {}, cwd });
  return { code, ...text };
}
