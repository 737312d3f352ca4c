import { allowAnonymous, createAgentHandler, rateLimit } from "@holodeck/agui";
import type { AgentFunction, AgentHandlerOptions } from "@holodeck/agui";
import { createFetchExchange, silentLogger } from "@holodeck/agui-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { extractFiles } from "../src/index.ts";
import type { ExtractFilesOptions } from "../src/index.ts";
import { makeDocx } from "./_make.ts";
import { millionPages } from "./_pages.ts";
import { textOf, toAgui, types, ways } from "./_serve.ts";

/** Sends a request from an address. */
type Send = (address: string, request: Request) => Promise<Response>;

interface Budget {
  readonly name: string;
  readonly files?: ExtractFilesOptions;
  readonly options?: AgentHandlerOptions;
  /** Sends from one client until it is refused, and returns that status. */
  fill(send: (request: Request) => Promise<Response>): Promise<number>;
  refusal: number;
  /** What another client sends then. */
  ask(): Request;
  accepted: number;
}

const upload = (body: BodyInit): Request =>
  new Request("http://x/files?name=a.txt", {
    method: "POST",
    headers: { "content-type": types.txt, "x-requested-with": "fetch" },
    body,
    duplex: "half",
  } as RequestInit);

/** A body whose end does not come. `taken` resolves when what it has was read. */
function unended(bytes: Uint8Array): { body: ReadableStream<Uint8Array>; taken: Promise<void> } {
  let read!: () => void;
  const taken = new Promise<void>((resolve) => (read = resolve));
  let isSent = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (isSent) return read();
        isSent = true;
        controller.enqueue(bytes);
      },
    },
    { highWaterMark: 0 },
  );
  return { body, taken };
}

/** Answers, unless it is asked to hold: then not before it is stopped. */
const echo: AgentFunction = async ({ messages }, { signal }) => {
  const asked = textOf(messages.at(-1)!);
  if (asked.startsWith("hold")) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  }
  return "Done";
};

const text = (bytes: number): Uint8Array<ArrayBuffer> => new Uint8Array(bytes).fill(65);
const form = (message: string): Request =>
  ways["REST with a form"]!(message, [{ name: "a.txt", mimeType: types.txt, bytes: text(900) }]);
const file = (mimeType: string, bytes: Uint8Array): Request =>
  ways["REST with base64"]!("Read", [{ name: "a", mimeType, bytes }]);
const large = (bytes: number): Request =>
  toAgui("Hello", { forwardedProps: { large: "x".repeat(bytes) } });
const KiB = 1024;

const budgets: readonly Budget[] = [
  {
    name: "the rate of runs",
    options: { middleware: [rateLimit({ runs: 1 })] },
    async fill(send) {
      expect((await send(toAgui("Hello"))).status).toBe(200);
      return (await send(toAgui("Hello"))).status;
    },
    refusal: 429,
    ask: () => toAgui("Hello"),
    accepted: 200,
  },
  {
    name: "bodies on their way",
    options: { limits: { bodyBytes: 300 * KiB, bodiesBytes: 400 * KiB } },
    async fill(send) {
      const { body, taken } = unended(text(200 * KiB));
      const headers = { "content-type": "application/json", "content-length": `${250 * KiB}` };
      const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
      void send(new Request("http://x/agui", init));
      await taken;
      return (await send(large(250 * KiB))).status;
    },
    refusal: 503,
    ask: () => large(200 * KiB),
    accepted: 200,
  },
  {
    name: "forms",
    options: { limits: { uploadBytes: 1500 } },
    async fill(send) {
      const held = Array.from({ length: 6 }, () => send(form("hold")));
      return (await Promise.race(held)).status;
    },
    refusal: 429,
    ask: () => form("Hello"),
    accepted: 200,
  },
  {
    name: "uploads on disk",
    files: { uploads: { maxFiles: 2 } },
    async fill(send) {
      for (let at = 0; at < 2; at++) expect((await send(upload("x"))).status).toBe(201);
      return (await send(upload("x"))).status;
    },
    refusal: 429,
    ask: () => upload("x"),
    accepted: 201,
  },
  {
    name: "uploads in the session store",
    files: { uploads: { store: "sessions", maxBytes: 2000 } },
    options: { limits: { fileBytes: 1000 } },
    async fill(send) {
      expect((await send(upload(text(900)))).status).toBe(201);
      return (await send(upload(text(900)))).status;
    },
    refusal: 429,
    ask: () => upload(text(900)),
    accepted: 201,
  },
  {
    name: "uploads on their way to the session store",
    files: { uploads: { store: "sessions", maxBytes: 2000 } },
    options: { limits: { fileBytes: 1000 } },
    async fill(send) {
      const { body, taken } = unended(text(900));
      void send(upload(body));
      await taken;
      return (await send(upload(text(900)))).status;
    },
    refusal: 429,
    ask: () => upload(text(900)),
    accepted: 201,
  },
  {
    name: "places for reading files",
    files: { timeoutMs: 3_600_000, workers: 2, queue: 1 },
    async fill(send) {
      const endless = file(types.pdf, millionPages(""));
      const hostile = [1, 2, 3].map(() => send(endless.clone()));
      return (await Promise.race(hostile)).status;
    },
    refusal: 503,
    ask: () => file(types.docx, makeDocx({ text: "Fine" })),
    accepted: 200,
  },
];

const waysIn: readonly { name: string; options: AgentHandlerOptions }[] = [
  { name: "without authenticate", options: {} },
  { name: "with allowAnonymous()", options: { authenticate: allowAnonymous() } },
];

describe.each(waysIn)("callers that are not known, $name, share by address:", (way) => {
  test.for(budgets)("$name", { timeout: 60_000 }, async (budget) => {
    const gone = new AbortController();
    const handler = createAgentHandler(
      { echo },
      {
        logger: silentLogger,
        ...way.options,
        ...budget.options,
        files: extractFiles({ timeoutMs: 300_000, ...budget.files }),
      },
    );
    onTestFinished(async () => {
      gone.abort();
      await handler.close({ timeoutMs: 0 });
    });
    const send: Send = async (ip, request) => {
      const aborting = new Request(request, { signal: gone.signal });
      const { exchange, response } = createFetchExchange(aborting, { ip, isLast: true });
      await handler.handle(exchange);
      return response;
    };
    expect(await budget.fill((request) => send("192.0.2.1", request))).toBe(budget.refusal);
    expect((await send("192.0.2.2", budget.ask())).status).toBe(budget.accepted);
  });
});
