import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgentHandler } from "@holodeck/agui";
import { memorySessions } from "@holodeck/agui-sessions";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serveEcho, types } from "./_serve.ts";
import type { Echo } from "./_serve.ts";

const KiB = 1024;
const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(request.url!);
  response.writeHead(200, { "content-type": "text/plain" }).end("x".repeat(100 * KiB));
});
let origin = "";
let tempDir = "";
beforeAll(async () => {
  tempDir = await mkdtemp(join(tmpdir(), "request-bounds-test-"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(tempDir, { recursive: true });
});

type Source = Record<string, unknown>;
type Way = (messages: readonly (readonly Source[])[]) => Request;

function post(path: string, body: unknown): Request {
  return new Request(`http://test.local${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

function toInput(messages: readonly (readonly Source[])[]): object {
  return {
    threadId: `t-${Math.random()}`,
    runId: `r-${Math.random()}`,
    tools: [],
    context: [],
    state: {},
    forwardedProps: {},
    messages: messages.map((sources, at) => ({
      id: `m${at}`,
      role: "user",
      content: [
        { type: "text", text: "Read" },
        ...sources.map((source) => ({ type: "document", source })),
      ],
    })),
  };
}

const ways: Record<string, Way> = {
  "AG-UI": (messages) => post("/agui", toInput(messages)),
  CopilotKit: (messages) =>
    post("/agui", { method: "agent/run", params: { agentId: "echo" }, body: toInput(messages) }),
  useChat: (messages) =>
    post("/api/chat", {
      id: `c-${Math.random()}`,
      trigger: "submit-message",
      messages: messages.map((sources, at) => ({
        id: `m${at}`,
        role: "user",
        parts: [
          { type: "text", text: "Read" },
          ...sources.map(({ value }) => ({ type: "file", mediaType: "text/plain", url: value })),
        ],
      })),
    }),
};

function list(count: number, make: (at: number) => Source): Source[][] {
  const messages: Source[][] = [];
  for (let at = 0; at < count; at++) {
    if (at % 10 === 0) messages.push([]);
    messages.at(-1)!.push(make(at));
  }
  return messages;
}

const url = (at: number): Source => ({
  type: "url",
  value: `${origin}/${at}`,
  mimeType: "text/plain",
});

async function ask(echo: Echo, request: Request): Promise<{ status: number; text: string }> {
  asked.length = 0;
  const response = await echo.handler.fetch(request);
  return { status: response.status, text: await response.text() };
}

describe.each(Object.keys(ways))("a request over %s", (way) => {
  const resolve = (): Parameters<typeof serveEcho>[0] => ({
    resolveUrl: { allow: [origin], allowPrivate: true },
  });

  test("with 40 messages of 10 addresses is refused before any of them is fetched", async () => {
    const echo = serveEcho(resolve());
    const { status, text } = await ask(echo, ways[way]!(list(400, url)));
    expect([status, JSON.parse(text)]).toMatchObject([400, { code: "invalid-request" }]);
    expect(text).toContain("400 files; this server accepts at most 100 (limits.requestFiles).");
    expect(asked).toEqual([]);
    await echo.handler.close();
  });

  test("is bounded in bytes over all of its files, and the limit is named", async () => {
    const echo = serveEcho(resolve(), { limits: { uploadBytes: 350 * KiB } });
    const { status, text } = await ask(echo, ways[way]!(list(20, url)));
    expect([status, JSON.parse(text)]).toMatchObject([
      413,
      {
        code: "payload-too-large",
        detail: `The files of the request are larger than ${350 * KiB} bytes (limits.uploadBytes).`,
      },
    ]);
    // The fourth does not fit, and none is asked for after it.
    expect(asked).toHaveLength(4);
    await echo.handler.close();
  });

  test("fetches an address once, however often it is referred to", async () => {
    const echo = serveEcho(resolve());
    const { status } = await ask(echo, ways[way]!(list(20, () => url(0))));
    expect(status).toBe(200);
    expect(asked).toEqual(["/0"]);
    await echo.handler.close();
  });
});

test("a host without a processor accepts so many files in new messages, and not one more", async () => {
  const handler = createAgentHandler(async () => "Read.");
  const inline = (): Source => ({ type: "data", value: "eHg=", mimeType: "text/plain" });
  for (const [count, status] of [
    [100, 200],
    [101, 400],
  ] as const) {
    const response = await handler.fetch(ways["AG-UI"]!(list(count, inline)));
    expect(response.status).toBe(status);
    const text = await response.text();
    if (status === 400) expect(text).toContain("limits.requestFiles");
  }
  await handler.close();
});

describe.each(["disk", "sessions"] as const)("uploads in %s", (store) => {
  async function serve(limits: object = {}): Promise<{ echo: Echo; id: string }> {
    const echo = serveEcho(
      { uploads: { store }, tempDir, spoolBytes: 1 * KiB },
      { sessions: memorySessions(), limits },
    );
    const response = await echo.handler.fetch(
      new Request("http://test.local/files?name=a.txt", {
        method: "POST",
        headers: { "content-type": types.txt },
        body: "x".repeat(100 * KiB),
      }),
    );
    return { echo, id: ((await response.json()) as { id: string }).id };
  }

  const reference = (id: string) => (): Source => ({ type: "file", value: id });

  test("are copied for a request once, however often it refers to them", async () => {
    const { echo, id } = await serve();
    const { status } = await ask(echo, ways["AG-UI"]!(list(100, reference(id))));
    expect(status).toBe(200);
    expect(echo.seen.files).toHaveLength(100);
    await echo.handler.close();
    await expect.poll(() => bytesIn(tempDir)).toBe(0);
  });

  test("count as often as they are there, in number", async () => {
    const { echo, id } = await serve();
    const { status, text } = await ask(echo, ways["AG-UI"]!(list(200, reference(id))));
    expect(status).toBe(400);
    expect(text).toContain("200 files; this server accepts at most 100 (limits.requestFiles).");
    await echo.handler.close();
  });

  test("are not copied when they are larger than a request may have", async () => {
    const { echo, id } = await serve({ uploadBytes: 50 * KiB });
    const { status, text } = await ask(echo, ways["AG-UI"]!(list(1, reference(id))));
    expect(status).toBe(413);
    expect(text).toContain("limits.uploadBytes");
    await echo.handler.close();
  });
});

async function bytesIn(folder: string): Promise<number> {
  let sum = 0;
  for (const name of await readdir(folder, { recursive: true })) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found?.isFile()) sum += found.size;
  }
  return sum;
}
