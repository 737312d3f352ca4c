import { PassThrough, Readable } from "node:stream";
import { main } from "../src/index.ts";

/** Runs the command line in this process; nobody types anything. */
export async function runMain(
  ...args: string[]
): Promise<{ code: number; out: string; err: string }> {
  const out = new PassThrough();
  const err = new PassThrough();
  const text = { out: "", err: "" };
  out.on("data", (chunk: Buffer) => void (text.out += chunk.toString("utf8")));
  err.on("data", (chunk: Buffer) => void (text.err += chunk.toString("utf8")));
  const input = Readable.from([]);
  const code = await main(args, { out, err, input, env: {}, cwd: process.cwd() });
  return { code, ...text };
}
