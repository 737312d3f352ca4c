import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { extractText } from "../src/extract/extract-text.ts";
import type { LoopAnswer, LoopQuestion, Work } from "./_loop-options.ts";
import { makeReport } from "./_pages.ts";
import { types } from "./_serve.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

const pages = 60;

/** A server in a process of its own, which watches its event loop. */
interface Watched {
  readonly url: string;
  begin(): Promise<unknown>;
  /** Its work since it was asked to begin. */
  end(): Promise<Work>;
  close(): Promise<void>;
}

async function start(): Promise<Watched> {
  const path = fileURLToPath(new URL("_loop-server.ts", import.meta.url));
  const child: ChildProcess = fork(path, { execArgv: [...sourceFlags] });
  const hear = async (): Promise<LoopAnswer> => {
    const [answer] = (await once(child, "message")) as [LoopAnswer];
    return answer;
  };
  const ask = (question: LoopQuestion): Promise<LoopAnswer> => {
    const answer = hear();
    child.send(question);
    return answer;
  };
  const { url } = (await hear()) as { url: string };
  return {
    url,
    begin: () => ask("begin"),
    end: async () => (await ask("end")) as Work,
    async close() {
      const gone = once(child, "exit");
      child.disconnect();
      await gone;
    },
  };
}

let reading: Watched;
let other: Watched;
beforeAll(async () => {
  [reading, other] = await Promise.all([start(), start()]);
});
afterAll(async () => {
  await Promise.all([reading.close(), other.close()]);
});

async function post({ url }: Watched, type: string, body: Buffer): Promise<string> {
  const headers = { "content-type": type, "content-length": body.byteLength };
  const sent = request(`${url}/agent/tail/chat`, { method: "POST", headers }).end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  expect(response.statusCode, text).toBe(200);
  return (JSON.parse(text) as { content: string }).content;
}

const form = "multipart/form-data; boundary=b";
const toReport = (at: number): Uint8Array =>
  makeReport(`Report ${at}`, { pages, bytes: 20_000_000 });
const reports = Array.from({ length: 10 }, (_, at) => {
  const head = `--b\r\ncontent-disposition: form-data; name="message"\r\n\r\nRead\r\n--b\r\ncontent-disposition: form-data; name="files"; filename="${at}.pdf"\r\ncontent-type: ${types.pdf}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), toReport(at), Buffer.from("\r\n--b--\r\n")]);
});

/** The processor time that it takes to read one of them, in ms. */
async function costOfOne(): Promise<number> {
  const from = toReport(0);
  const job = { kind: "pdf" as const, from, maxChars: 100_000, inflatedBytes: 100_000_000 };
  const begun = process.cpuUsage();
  await extractText(from, { ...job, ocr: { language: "eng" } });
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
}

async function readReports(): Promise<void> {
  const answers = await Promise.all(reports.map((report) => post(reading, form, report)));
  for (const [at, answer] of answers.entries()) {
    expect(answer).toContain(`Report ${at}, page ${pages} of ${pages}.`);
  }
}

// Both servers have the same business, a short run every few milliseconds. One of them reads the reports besides.
async function compare(): Promise<Record<"withFiles" | "without", Work>> {
  const small = Buffer.from(JSON.stringify({ message: "A short question." }));
  const runs: Promise<unknown>[] = [];
  await Promise.all([reading.begin(), other.begin()]);
  const load = setInterval(() => {
    for (const server of [reading, other]) {
      const run = post(server, "application/json", small);
      // Looked at below, all together.
      run.catch(() => undefined);
      runs.push(run);
    }
  }, 5);
  try {
    await readReports();
  } finally {
    clearInterval(load);
  }
  await Promise.all(runs);
  expect(runs.length).toBeGreaterThan(100);
  const [withFiles, without] = await Promise.all([reading.end(), other.end()]);
  return { withFiles, without };
}

test(
  "goes on serving while ten PDFs of 20 MB are uploaded and read",
  { timeout: 600_000 },
  async () => {
    for (const { byteLength } of reports) expect(byteLength).toBeGreaterThan(20_000_000);
    // The thread, and what the first run of each server compiles, are there before it counts.
    await Promise.all([reading, other].map((server) => post(server, form, reports[0]!)));
    const { withFiles, without } = await compare();
    const cost = await costOfOne();
    process.stdout.write(`Work: ${JSON.stringify({ withFiles, without, cost })}\n`);
    expect(withFiles.loopMs).toBeLessThanOrEqual(3 * without.loopMs);
    // Each report is read in one piece: on the event loop, it would be one of the longest turns.
    expect(withFiles.p99Ms).toBeLessThan(cost / 2);
  },
);
