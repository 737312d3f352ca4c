import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fakeClock } from "@holodeck/agui-testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makePdf } from "./_make.ts";
import { serveEcho, textOf, toAgui, types } from "./_serve.ts";
import type { Echo } from "./_serve.ts";

let tempDir = "";
let echo: Echo;
const clock = fakeClock();
const pdf = await makePdf("Kept for later");

beforeAll(async () => {
  tempDir = await mkdtemp(join(tmpdir(), "uploads-test-"));
  echo = serveEcho(
    { uploads: { ttlMs: 60_000, maxBytes: 20_000 }, tempDir, clock },
    {
      authenticate: ({ headers }) => ({ id: headers.get("authorization") ?? "nobody" }),
      limits: { fileBytes: 10_000 },
    },
  );
});
afterAll(async () => {
  await echo.handler.close();
  expect(await readdir(tempDir)).toEqual([]);
  await rm(tempDir, { recursive: true });
});

interface Uploading {
  readonly who?: string;
  readonly type?: string;
  readonly name?: string;
  readonly headers?: Record<string, string>;
}

function upload(
  body: BodyInit,
  { who = "Bearer ann", type = types.pdf, name = "later.pdf", headers = {} }: Uploading = {},
): Promise<Response> {
  return echo.handler.fetch(
    new Request(`http://x/files?name=${encodeURIComponent(name)}`, {
      method: "POST",
      headers: { "content-type": type, authorization: who, ...headers },
      body,
      duplex: "half",
    } as RequestInit),
  );
}

async function refer(id: string, who = "Bearer ann"): Promise<Response> {
  const request = toAgui([
    { type: "text", text: "Read" },
    { type: "binary", mimeType: types.pdf, id, filename: "any.pdf" },
  ]);
  request.headers.set("authorization", who);
  const response = await echo.handler.fetch(request);
  return new Response(await response.text(), { status: response.status });
}

const bodyOf = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => bytes as Uint8Array<ArrayBuffer>;

test("an upload is referred to by its id until its time is over", async () => {
  const response = await upload(bodyOf(pdf));
  expect(response.status).toBe(201);
  const stored = (await response.json()) as { id: string };
  expect(stored).toMatchObject({
    name: "later.pdf",
    mimeType: types.pdf,
    size: pdf.byteLength,
    expiresAt: new Date(clock.now() + 60_000).toISOString(),
  });
  for (let turn = 0; turn < 2; turn++) {
    expect((await refer(stored.id)).status).toBe(200);
    expect(textOf(echo.seen.messages.at(-1)!)).toBe("Read\n\n## File: later.pdf\nKept for later");
    expect(echo.seen.bytes).toEqual([new Uint8Array(pdf)]);
  }
  await clock.advance(60_000);
  const late = await refer(stored.id);
  expect(late.status).toBe(400);
  expect(await late.json()).toMatchObject({
    code: "file-not-found",
    detail: `"any.pdf" cannot be read: there is no file "${stored.id}".`,
  });
});

test("an upload is nobody else's", async () => {
  const { id } = (await (await upload(bodyOf(pdf))).json()) as { id: string };
  expect((await refer(id, "Bearer bob")).status).toBe(400);
  expect((await refer(id)).status).toBe(200);
});

test.each(["../../etc/passwd", "", "x".repeat(300)])(
  "an id that nobody was given leads nowhere: %s",
  async (id) => {
    expect((await refer(id)).status).toBe(400);
  },
);

test("an upload that is too large is refused while it arrives", async () => {
  let pulled = 0;
  const endless = new ReadableStream({
    pull(controller) {
      pulled += 1000;
      controller.enqueue(new Uint8Array(1000).fill(65));
    },
  });
  const response = await upload(endless, { type: types.txt, name: "a.txt" });
  expect(response.status).toBe(413);
  expect(pulled).toBeLessThan(20_000);
  const declared = await upload("x", { headers: { "content-length": "10001" } });
  expect(declared.status).toBe(413);
});

test("an upload that lies about its type, or is empty, is refused and not kept", async () => {
  await clock.advance(60_000);
  expect((await upload(bodyOf(pdf), { type: types.png, name: "a.png" })).status).toBe(400);
  expect((await upload("")).status).toBe(400);
  expect((await upload("MZ", { type: "application/x-msdownload", name: "a.exe" })).status).toBe(
    400,
  );
  const [folder] = await readdir(tempDir);
  // The next one sweeps, and is then alone.
  expect((await upload(bodyOf(pdf))).status).toBe(201);
  expect(await readdir(join(tempDir, folder!))).toHaveLength(2);
});

test("all uploads together have a bound", async () => {
  await clock.advance(60_000);
  const text = { type: types.txt, name: "a.txt" };
  expect((await upload("x".repeat(9000), text)).status).toBe(201);
  expect((await upload("x".repeat(9000), text)).status).toBe(201);
  const full = await upload("x".repeat(9000), text);
  expect(full.status).toBe(429);
  await clock.advance(60_000);
  expect((await upload("x".repeat(9000), text)).status).toBe(201);
});

test("a page of another site cannot upload", async () => {
  const response = await upload(bodyOf(pdf), {
    who: "Basic x",
    headers: { "sec-fetch-site": "cross-site", origin: "https://evil.test" },
  });
  expect(response.status).toBe(403);
});

test("a form is answered with what to send instead", async () => {
  const response = await upload("x", { type: "multipart/form-data; boundary=x" });
  expect(response.status).toBe(415);
  expect(await response.json()).toMatchObject({
    detail: "Send the file itself as the body, not a form.",
  });
});

test("there is no such route unless it is asked for", async () => {
  const { handler } = serveEcho();
  const response = await handler.fetch(
    new Request("http://x/files", { method: "POST", body: "x" }),
  );
  expect(response.status).toBe(404);
  await handler.close();
});

test("the OpenAPI document has the route", async () => {
  const { paths } = (await echo.handler.openapi()) as { paths: Record<string, unknown> };
  expect(paths["/files"]).toMatchObject({ post: { operationId: "uploadFile" } });
});
