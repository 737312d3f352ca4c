import { toNodeHandler } from "@holodeck/agui-node";
import type { NodeExchangeOptions, NodeRequest } from "@holodeck/agui-node";
import { strToU8 } from "fflate";
import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { listen } from "../../node/test/_listen.ts";
import { createExtractor } from "../src/extract/extractor.ts";
import type { ExtractorOptions } from "../src/extract/extractor.ts";
import { createFairQueue } from "../src/extract/pool/fair-queue.ts";
import { createMemoryWatch } from "../src/extract/pool/memory-watch.ts";
import { makeDocx, makePdf } from "./_make.ts";
import { millionPages } from "./_pages.ts";
import { patience, serveEcho, types, ways } from "./_serve.ts";
import type { Echo, Sent } from "./_serve.ts";

const MiB = 1024 * 1024;
const endless: Sent = { name: "endless.pdf", mimeType: types.pdf, bytes: millionPages("") };
const fine: Sent = { name: "fine.docx", mimeType: types.docx, bytes: makeDocx({ text: "Fine" }) };

interface Sending {
  readonly response: Promise<Response>;
  leave(): void;
}

function send({ handler }: Pick<Echo, "handler">, file: Sent, who: string): Sending {
  const aborter = new AbortController();
  const { url, method, headers, body } = ways["REST with base64"]!("Read", [file]);
  const sent = new Headers(headers);
  sent.set("authorization", who);
  const init = { method, headers: sent, body, signal: aborter.signal, duplex: "half" };
  const response = handler.fetch(new Request(url, init));
  response.catch(() => undefined);
  return { response, leave: () => aborter.abort() };
}

function serve(options: { workers: number; queue?: number }): Echo {
  return serveEcho(
    { timeoutMs: 3_600_000, ...options },
    { authenticate: ({ headers }) => ({ id: headers.get("authorization") ?? "none" }) },
  );
}

async function detailOf(response: Response): Promise<unknown[]> {
  const { code, detail } = (await response.json()) as { code: string; detail: string };
  return [response.status, response.headers.get("retry-after"), code, detail];
}

describe("files of several principals", () => {
  test("are read while another principal's take for ever", { timeout: 300_000 }, async () => {
    const echo = serve({ workers: 2 });
    const hostile = [1, 2, 3].map(() => send(echo, endless, "mallory"));
    let ended = 0;
    for (const { response } of hostile) void response.finally(() => ended++).catch(() => undefined);
    const { status } = await send(echo, fine, "ann").response;
    expect([status, ended]).toEqual([200, 0]);
    for (const { leave } of hostile) leave();
    await echo.handler.close();
  });

  test("take turns by address where no caller is authenticated", { timeout: 300_000 }, async () => {
    const echo = serveEcho({ timeoutMs: 3_600_000, workers: 2, queue: 1 });
    const describe = (req: NodeRequest): NodeExchangeOptions => ({
      ip: String(req.headers["x-address"]),
    });
    const { url, close } = await listen(createServer(toNodeHandler(echo.handler, { describe })));
    const aborter = new AbortController();
    const sendFrom = async (address: string, file: Sent): Promise<number> => {
      const request = ways["REST with base64"]!("Read", [file]);
      const response = await fetch(`${url}${new URL(request.url).pathname}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-address": address },
        body: await request.text(),
        signal: aborter.signal,
      });
      return response.status;
    };
    // Of one subscriber, who can choose the second half of an address of IPv6.
    const hostile = ["2001:db8::1", "2001:db8::2", "2001:db8:0:0:3::1"].map((address) =>
      sendFrom(address, endless),
    );
    // One is read, one waits, and one has no place.
    expect(await Promise.race(hostile)).toBe(503);
    expect(await sendFrom("192.0.2.7", fine)).toBe(200);
    aborter.abort();
    await Promise.allSettled(hostile);
    await echo.handler.close();
    await close();
  });

  test("are refused when too many wait", { timeout: 300_000 }, async () => {
    const echo = serve({ workers: 1, queue: 3 });
    const running = send(echo, endless, "mallory");
    const waiting = [1, 2, 3].map(() => send(echo, endless, "mallory"));
    // Their bodies are read one after the other; the fourth has no place.
    const refused = await Promise.race(
      [...waiting, send(echo, endless, "mallory"), running].map(({ response }) => response),
    );
    expect(await detailOf(refused)).toEqual([
      503,
      "5",
      "capacity-exceeded",
      "Too many files wait to be read: this server keeps at most 3 (`queue` of extractFiles).",
    ]);
    await echo.handler.close();
  });
});

function open(options: Partial<ExtractorOptions> = {}): ReturnType<typeof createExtractor> {
  return createExtractor({
    timeoutMs: 300_000,
    memoryBytes: 512 * MiB,
    workers: 2,
    queue: 10,
    ...options,
  });
}

const pdfJob = {
  kind: "pdf" as const,
  from: await makePdf("Fine"),
  maxChars: 1000,
  inflatedBytes: MiB,
  ocr: { language: "eng" },
};

describe("threads", () => {
  test("end when there is nothing to read", { timeout: 300_000 }, async () => {
    // The process of the tests grows by itself: that is not to count here.
    const extractor = open({ idleMs: 1, memoryBytes: 8192 * MiB });
    const texts = ["ann", "bob"].map((owner) => extractor.extract("a.pdf", pdfJob, { owner }));
    expect(await Promise.all(texts)).toEqual(["Fine", "Fine"]);
    await expect.poll(() => extractor.countThreads(), patience).toBe(0);
    expect(await extractor.extract("a.pdf", pdfJob, { owner: "ann" })).toBe("Fine");
    await extractor.close();
    expect(extractor.countThreads()).toBe(0);
  });

  test("are kept for the next file, and end with the handler", { timeout: 300_000 }, async () => {
    const extractor = open();
    await extractor.extract("a.pdf", pdfJob, { owner: "ann" });
    await extractor.extract("a.pdf", pdfJob, { owner: "ann" });
    expect(extractor.countThreads()).toBe(1);
    const late = extractor.extract("b.pdf", { ...pdfJob, from: endless.bytes }, { owner: "ann" });
    const closing = extractor.close();
    await expect(late).rejects.toMatchObject({ code: "shutting-down" });
    await closing;
    expect(extractor.countThreads()).toBe(0);
    await expect(extractor.extract("a.pdf", pdfJob, { owner: "ann" })).rejects.toMatchObject({
      code: "shutting-down",
    });
  });

  test("that have grown are not kept", { timeout: 300_000 }, async () => {
    const extractor = open({ memoryBytes: 400 * MiB, workers: 1 });
    const read = (large: number): Promise<string> => {
      const comment = `<!--${"x".repeat(large)}-->`;
      const document = `<w:document>${comment}<w:body><w:p><w:r><w:t>Fine</w:t></w:r></w:p></w:body></w:document>`;
      const from = makeDocx({ text: "", more: { "word/document.xml": strToU8(document) } });
      const job = { ...pdfJob, kind: "docx" as const, from, inflatedBytes: 100 * MiB };
      return extractor.extract("a.docx", job, { owner: "ann" });
    };
    expect(await read(0)).toBe("Fine");
    expect(extractor.countThreads()).toBe(1);
    expect(await read(70 * MiB)).toBe("Fine");
    await expect.poll(() => extractor.countThreads(), patience).toBe(0);
    await extractor.close();
  });

  test(
    "stop when the client leaves, whether it waits or is read",
    { timeout: 300_000 },
    async () => {
      const extractor = open({ workers: 1 });
      const [first, second] = [new AbortController(), new AbortController()];
      const job = { ...pdfJob, from: endless.bytes };
      const running = extractor.extract("a.pdf", job, { owner: "ann", signal: first.signal });
      const waiting = extractor.extract("b.pdf", job, { owner: "ann", signal: second.signal });
      second.abort(new Error("left"));
      await expect(waiting).rejects.toThrow("left");
      first.abort(new Error("left first"));
      await expect(running).rejects.toThrow("left first");
      expect(await extractor.extract("c.pdf", pdfJob, { owner: "ann" })).toBe("Fine");
      await extractor.close();
    },
  );
});

describe("the queue", () => {
  const items = (owner: string, count: number): { owner: string; bytes: number; at: number }[] =>
    Array.from({ length: count }, (_, at) => ({ owner, bytes: 10, at }));

  test("lets owners take turns", () => {
    const queue = createFairQueue({ items: 10, bytes: 1000 });
    for (const item of [...items("a", 3), ...items("b", 1), ...items("c", 2)]) queue.add(item);
    const order = Array.from({ length: 6 }, () => queue.take(() => true)?.owner);
    expect(order).toEqual(["a", "b", "c", "a", "c", "a"]);
    expect(queue.take(() => true)).toBeUndefined();
  });

  test("drops the newest of the owner who has most", () => {
    const queue = createFairQueue({ items: 3, bytes: 1000 });
    const [first, second, third] = items("a", 3);
    for (const item of [first!, second!, third!]) queue.add(item);
    const other = items("b", 1)[0]!;
    queue.add(other);
    expect(queue.trim()).toEqual([third]);
    expect(queue.take((owner) => owner === "b")).toBe(other);
  });

  test("has a bound on what waits in memory", () => {
    const queue = createFairQueue({ items: 10, bytes: 25 });
    for (const item of items("a", 2)) queue.add(item);
    expect(queue.trim()).toEqual([]);
    const large = { owner: "b", bytes: 20, at: 0 };
    queue.add(large);
    expect(queue.trim()).toHaveLength(2);
  });
});

test("memory that earlier files left behind is counted, past one limit", () => {
  let taken = 100;
  const watch = createMemoryWatch(50, () => [taken]);
  watch.begin();
  taken = 160;
  expect(watch.isExceeded(50)).toBe(true);
  // Refused, and nothing was given back: the next one may add a limit once more, the one after it may not.
  watch.begin();
  taken = 201;
  expect(watch.isExceeded(50)).toBe(true);
  watch.begin();
  expect(watch.isExceeded(50)).toBe(true);
  taken = 120;
  watch.begin();
  expect(watch.isExceeded(50)).toBe(false);
});
