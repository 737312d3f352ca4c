import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@holodeck/agui-node";
import type { AgentHandlerOptions, InputFile } from "@holodeck/agui";
import { createAgentHandler } from "@holodeck/agui";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { extractFiles } from "../src/index.ts";
import { ways, patience } from "./_serve.ts";

const KiB = 1024;
const MiB = KiB * KiB;
let tempDir = "";
let during: string[] = [];
let given: readonly InputFile[] = [];
let act: () => Promise<string> = async () => "done";

beforeAll(async () => {
  tempDir = await mkdtemp(join(tmpdir(), "spool-test-"));
});
afterAll(() => rm(tempDir, { recursive: true }));
beforeEach(() => {
  during = [];
  act = async () => "done";
});

const silent = { debug() {}, info() {}, warn() {}, error() {} };

function start(more: AgentHandlerOptions = {}): ReturnType<typeof createAgentHandler> {
  return createAgentHandler(
    {
      echo: {
        run: async (_input, context) => {
          given = context.files;
          during = await spooled();
          return act();
        },
      },
    },
    {
      logger: silent,
      files: extractFiles({ tempDir }),
      limits: { fileBytes: 4 * MiB, uploadBytes: 6 * MiB },
      ...more,
    },
  );
}

async function spooled(): Promise<string[]> {
  const names = await readdir(tempDir, { recursive: true });
  return names.filter((name) => /\/\d+$/.test(name));
}

// It is removed right after the answer; until then there is something to wait for.
async function emptied(): Promise<void> {
  await expect.poll(() => readdir(tempDir), patience).toEqual([]);
}

const large = new Uint8Array(2 * MiB).fill(65);

function form(bytes: Uint8Array = large): Request {
  return ways["REST with a form"]!("Read", [{ name: "big.txt", mimeType: "text/plain", bytes }]);
}

test("keeps a large file on disk while its run goes on, and then removes it", async () => {
  const handler = start();
  let bytes: Uint8Array | undefined;
  let streamed = 0;
  act = async () => {
    bytes = await given[0]!.bytes();
    for await (const chunk of given[0]!.stream()) streamed += chunk.byteLength;
    return "read";
  };
  const response = await handler.fetch(form());
  expect(response.status).toBe(200);
  expect(during).toHaveLength(1);
  expect(Buffer.compare(bytes!, large)).toBe(0);
  expect(streamed).toBe(large.byteLength);
  await emptied();
  await handler.close();
});

test("keeps a small one in memory", async () => {
  const handler = start();
  expect((await handler.fetch(form(large.subarray(0, KiB)))).status).toBe(200);
  expect(during).toEqual([]);
  expect(await given[0]!.bytes()).toHaveLength(KiB);
  await handler.close();
});

test("empties the folder when the agent fails", async () => {
  const handler = start();
  act = () => Promise.reject(new Error("broken"));
  expect((await handler.fetch(form())).status).toBe(500);
  expect(during).toHaveLength(1);
  await emptied();
  await handler.close();
});

test("empties the folder after a stream, and when the run is stopped", async () => {
  const handler = start();
  const request = new Request("http://x/agent/echo/chat/stream", form());
  act = async () => {
    await handler.runs.stop(handler.runs.list()[0]!.runId);
    return "never";
  };
  const response = await handler.fetch(request);
  await response.text();
  expect(during).toHaveLength(1);
  await emptied();
  await handler.close();
});

test("empties the folder when a file is refused", async () => {
  const handler = start();
  const bytes = large.slice();
  bytes.fill(0, 0, 100);
  expect((await handler.fetch(form(bytes))).status).toBe(400);
  await emptied();
  await handler.close();
});

test("answers 413 to a file that is too large, and leaves nothing behind", async () => {
  const handler = start();
  expect((await handler.fetch(form(new Uint8Array(4 * MiB + 1).fill(65)))).status).toBe(413);
  await emptied();
  await handler.close();
});

test("leaves nothing behind of a client that leaves in the middle of its upload", async () => {
  const handler = start();
  const server = await serve(handler, { port: 0 });
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  const part = (name: string): string =>
    `--b\r\ncontent-disposition: form-data; name="files"; filename="${name}"\r\ncontent-type: text/plain\r\n\r\n`;
  socket.write(
    `POST /agent/echo/chat HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: ${5 * MiB}\r\n\r\n${part("one.txt")}`,
  );
  socket.write(large);
  socket.write(`\r\n${part("two.txt")}`);
  socket.write(large.subarray(0, MiB + KiB));
  // The first file is complete, the second one half; both are on disk.
  await expect.poll(() => spooled(), patience).toHaveLength(2);
  socket.destroy();
  await once(socket, "close");
  await emptied();
  await server.close();
});

test("removes what a process left behind that was killed", async () => {
  const orphan = join(tempDir, "another", "agui-files-4194303-x");
  await mkdir(orphan, { recursive: true });
  const parent = join(tempDir, "another");
  const handler = createAgentHandler(async () => "done", {
    logger: silent,
    files: extractFiles({ tempDir: parent }),
  });
  const request = new Request("http://x/agent/default/chat", form());
  expect((await handler.fetch(request)).status).toBe(200);
  await expect.poll(() => readdir(parent), patience).toEqual([]);
  await rm(parent, { recursive: true });
  await handler.close();
});

// On the thread that another run has: it says when that one may end.
async function busyThread(handler: ReturnType<typeof start>): Promise<{
  sessionId: string;
  first: Promise<Response>;
  free(): void;
}> {
  let free!: () => void;
  const held = new Promise<void>((resolve) => (free = resolve));
  act = async () => {
    await held;
    return "first";
  };
  const sessionId = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  const first = handler.fetch(
    new Request("http://x/agent/echo/chat", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ message: "Wait", session_id: sessionId }),
    }),
  );
  await expect.poll(() => handler.runs.list(), patience).toHaveLength(1);
  return { sessionId, first, free };
}

function queued(sessionId: string, path = "/agent/echo/chat", signal?: AbortSignal): Request {
  const body = new FormData();
  body.set("message", "Read");
  body.set("session_id", sessionId);
  body.append("files", new Blob([large], { type: "text/plain" }), "big.txt");
  return new Request(`http://x${path}`, { method: "POST", body, ...(signal ? { signal } : {}) });
}

test.for(["/agent/echo/chat", "/agent/echo/chat/stream"])(
  "keeps the files of a run that waits for its thread until it has run: %s",
  async (path) => {
    const handler = start({ onBusy: "queue" });
    const { sessionId, first, free } = await busyThread(handler);
    const second = handler.fetch(queued(sessionId, path)).then((response) => response.text());
    // It is read, and waits for its turn with its file on disk.
    await expect.poll(() => spooled(), patience).toHaveLength(1);
    let bytes: Uint8Array | undefined;
    act = async () => {
      bytes = await given[0]!.bytes();
      return "second";
    };
    free();
    expect((await first).status).toBe(200);
    expect(await second).toContain("second");
    expect(during).toHaveLength(1);
    expect(Buffer.compare(bytes!, large)).toBe(0);
    await emptied();
    await handler.close();
  },
);

test("removes the files of a run whose client leaves while it waits", async () => {
  const handler = start({ onBusy: "queue" });
  const server = await serve(handler, { port: 0 });
  const { sessionId, first, free } = await busyThread(handler);
  const leaving = new AbortController();
  const { pathname } = new URL("http://x/agent/echo/chat");
  const asked = queued(sessionId, pathname);
  const second = fetch(`${server.url}${pathname}`, {
    method: "POST",
    headers: asked.headers,
    body: await asked.arrayBuffer(),
    signal: leaving.signal,
  });
  await expect.poll(() => spooled(), patience).toHaveLength(1);
  leaving.abort();
  await expect(second).rejects.toThrow("aborted");
  await emptied();
  free();
  expect((await first).status).toBe(200);
  await server.close();
});

test("removes the files of a run whose client leaves in the middle of it", async () => {
  const handler = start();
  const server = await serve(handler, { port: 0 });
  const leaving = new AbortController();
  let hasBegun = false;
  act = () => {
    hasBegun = true;
    return new Promise<string>(() => undefined);
  };
  const asked = form();
  const response = fetch(`${server.url}/agent/echo/chat`, {
    method: "POST",
    headers: asked.headers,
    body: await asked.arrayBuffer(),
    signal: leaving.signal,
  });
  await expect.poll(() => hasBegun, patience).toBe(true);
  expect(during).toHaveLength(1);
  leaving.abort();
  await expect(response).rejects.toThrow("aborted");
  await emptied();
  await server.close();
});

test("keeps the files of a run that goes on without its client until it has ended", async () => {
  const handler = start({ onDisconnect: "continue" });
  const server = await serve(handler, { port: 0 });
  const leaving = new AbortController();
  let goOn!: () => void;
  const left = new Promise<void>((resolve) => (goOn = resolve));
  let bytes: Uint8Array | undefined;
  let hasBegun = false;
  act = async () => {
    hasBegun = true;
    await left;
    bytes = await given[0]!.bytes();
    return "read";
  };
  const asked = form();
  const response = fetch(`${server.url}/agent/echo/chat`, {
    method: "POST",
    headers: asked.headers,
    body: await asked.arrayBuffer(),
    signal: leaving.signal,
  });
  await expect.poll(() => hasBegun, patience).toBe(true);
  leaving.abort();
  await expect(response).rejects.toThrow("aborted");
  goOn();
  await expect.poll(() => bytes?.byteLength, patience).toBe(large.byteLength);
  await emptied();
  await server.close();
});
