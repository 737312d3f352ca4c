import { PassThrough, Readable } from "node:stream";
import { main } from "../src/index.ts";
import type { Io } from "../src/index.ts";

export interface MainResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command line in this process; nobody types anything. */
export function runMain(...args: string[]): Promise<MainResult> {
  return typeTo(args, []);
}

export interface TypeOptions {
  readonly cwd?: string;
  readonly env?: Io["env"];
}

/** Runs the command line in this process with these lines as its input. */
export async function typeTo(
  args: readonly string[],
  lines: readonly string[],
  options: TypeOptions = {},
): Promise<MainResult> {
  const { io, text } = createIo(lines, options);
  const code = await main(args, io);
  return { code, ...text };
}

/** What a command talks to here, and all it has printed so far; `onText` hears of more. */
export function createIo(
  lines: readonly string[],
  { cwd = process.cwd(), env = {} }: TypeOptions,
  onText: () => void = () => undefined,
): { io: Io; text: { out: string; err: string } } {
  const text = { out: "", err: "" };
  const stream = (name: keyof typeof text): PassThrough =>
    new PassThrough().setEncoding("utf8").on("data", (chunk: string) => {
      text[name] += chunk;
      onText();
    });
  const input = Readable.from(lines.map((line) => `${line}\n`));
  return { io: { out: stream("out"), err: stream("err"), input, env, cwd }, text };
}
