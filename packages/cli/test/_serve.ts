import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { main } from "../src/index.ts";
import { startCli } from "./_cli.ts";
import type { Cli, CliOptions } from "./_cli.ts";
import { createPrinted } from "./_printed.ts";
import { createIo } from "./_run-main.ts";

/** For `beforeAll`: the page is built by `npm test`, but not by vitest alone. */
export const buildPage = async (): Promise<void> => {
  const script = "../../../scripts/test-support/page.mjs";
  const { buildPage } = (await import(script)) as { buildPage(): Promise<void> };
  await buildPage();
};

export interface Served extends Pick<Cli, "out" | "err" | "waitFor"> {
  readonly url: string;
  readonly port: number;
}

/** Starts `holodeck serve` on a free port and waits until it has said everything. */
export async function startServe(
  args: readonly string[],
  options: CliOptions = {},
): Promise<Cli & Served> {
  return whenServing(startCli(toArgs(args, options), options));
}

/** The same command in this process, for what takes no process of its own. It ends with the test. */
export async function serveHere(
  args: readonly string[],
  options: CliOptions = {},
): Promise<Served & { stop(): Promise<number> }> {
  const printed = createPrinted(() => `${text.out}\n${text.err}`);
  const { io, text } = createIo([], options, printed.tell);
  const others = process.listeners("SIGTERM");
  const ended = main(toArgs(args, options), io);
  void ended.then((code) => printed.end(`It ended (${code})`));
  const served = await whenServing({
    get out() {
      return text.out;
    },
    get err() {
      return text.err;
    },
    waitFor: printed.waitFor,
  });
  // The signal, as this command alone hears it.
  const listener = process.listeners("SIGTERM").find((one) => !others.includes(one))!;
  let isStopped = false;
  const stop = (): Promise<number> => {
    if (!isStopped) listener("SIGTERM");
    isStopped = true;
    return ended;
  };
  onTestFinished(async () => void (await stop()));
  return Object.assign(served, { stop });
}

function toArgs(args: readonly string[], { env }: CliOptions): string[] {
  const isChosen = args.includes("--port") || env?.AGUI_PORT !== undefined;
  return ["serve", ...args, ...(isChosen ? [] : ["--port", "0"])];
}

async function whenServing<T extends Pick<Cli, "out" | "err" | "waitFor">>(
  cli: T,
): Promise<T & Served> {
  await cli.waitFor(/Ctrl-C stops it/);
  const url = /https?:\/\/[^/\s]+/.exec(cli.out)![0];
  // Not a copy: what it prints later is to be seen too.
  return Object.assign(Object.create(cli) as T, { url, port: Number(new URL(url).port) });
}

/** Writes files below a folder; returns the path of the first. */
export function write(folder: string, files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return join(folder, Object.keys(files)[0]!);
}

/** Asks an agent over AG-UI; resolves with the whole answer. */
export async function ask(
  url: string,
  { content = "hi", ...input }: { content?: string; threadId?: string; runId?: string } = {},
): Promise<Answer> {
  const response = await post(url, { messages: [{ role: "user", content }], ...input });
  return readAnswer(response);
}

export function post(
  url: string,
  body: object,
  { path = "/agui" }: { path?: string } = {},
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

export interface Answer {
  readonly status: number;
  readonly events: readonly { type: string; delta?: string; [field: string]: unknown }[];
  readonly text: string;
}

export async function readAnswer(response: Response): Promise<Answer> {
  const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
  const events = lines.map(
    (line) => JSON.parse(line.slice("data: ".length)) as Answer["events"][0],
  );
  const text = events.flatMap(({ type, delta }) => (type === "TEXT_MESSAGE_CONTENT" ? delta : []));
  return { status: response.status, events, text: text.join("") };
}

/** A response as it comes: waits for a word in it. */
export function follow(response: Response): { until(word: string): Promise<string> } {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  return {
    async until(word) {
      while (!seen.includes(word)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`The answer ended without ${word}: ${seen}`);
        seen += value;
      }
      return seen;
    },
  };
}

/** Says a word at once, and the rest when the file `go` is there. */
export const waiting = `
import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

export default async function* (input: { messages: unknown[] }, { signal }: { signal: AbortSignal }) {
  yield "first ";
  while (!existsSync(new URL("./go", import.meta.url))) await setTimeout(10, undefined, { signal });
  yield "second";
}
`;

export const hello = `export default async function* () { yield "hello"; }\n`;
