import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fakeClock } from "@holodeck/agui-testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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

test("an upload belongs to its user only", async () => {
  const { id } = (await (await upload(bodyOf(pdf))).json()) as { id: string };
  expect((await refer(id, "Bearer bob")).status).toBe(400);
  expect((await refer(id)).status).toBe(200);
});

test.each(["../../etc/passwd", "", "x".repeat(300)])(
  "an id that was never given out leads nowhere: %s",
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

describe("a form", () => {
  const part = (content: string, filename?: string, type = "text/plain"): string =>
    `--b\r\ncontent-disposition: form-data; name="file"${filename === undefined ? "" : `; filename="${filename}"`}\r\ncontent-type: ${type}\r\n\r\n${content}\r\n`;
  const type = "multipart/form-data; boundary=b";

  async function send(body: BodyInit, path = "/files"): Promise<Response> {
    const headers = { "content-type": type, authorization: "Bearer ann" };
    return echo.handler.fetch(new Request(`http://x${path}`, { method: "POST", headers, body }));
  }

  test("may bring the file, as curl -F sends it", async () => {
    await clock.advance(60_000);
    const body = new FormData();
    body.set("purpose", "assistants");
    body.set("file", new Blob([bodyOf(pdf)], { type: types.pdf }), "../of/a form.pdf");
    const headers = { authorization: "Bearer ann" };
    const response = await echo.handler.fetch(
      new Request("http://x/files", { method: "POST", headers, body }),
    );
    const stored = (await response.json()) as { id: string };
    expect([response.status, stored]).toMatchObject([
      201,
      { name: "a form.pdf", mimeType: types.pdf, size: pdf.byteLength },
    ]);
    expect((await refer(stored.id)).status).toBe(200);
    expect(textOf(echo.seen.messages.at(-1)!)).toBe("Read\n\n## File: a form.pdf\nKept for later");
    expect(echo.seen.bytes).toEqual([new Uint8Array(pdf)]);
  });

  test("lets the query name the file", async () => {
    const response = await send(`${part("x", "a.txt")}--b--`, "/files?name=b.txt");
    expect([response.status, await response.json()]).toMatchObject([201, { name: "b.txt" }]);
  });

  test.for([
    ["without a file", `${part("x")}--b--`, "it has no file; send one as -F file=@report.pdf."],
    ["with two files", `${part("x", "a")}${part("y", "b")}--b--`, "it has more than one file."],
    ["that is cut short", part("x", "a.txt"), "it ends before its last boundary."],
    ["of nothing", "", "it ends before its last boundary."],
  ] as const)("%s is refused and not kept", async ([, body, reason]) => {
    const files = async (): Promise<number> => {
      const [folder] = await readdir(tempDir);
      return (await readdir(join(tempDir, folder!))).length;
    };
    const before = await files();
    const response = await send(body);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { detail: `The multipart body is not valid: ${reason}` },
    ]);
    expect(await files()).toBe(before);
  });

  test("whose file is too large, or that is all fields, is refused while it arrives", async () => {
    for (const head of [part("", "a.txt").slice(0, -2), part("").slice(0, -2)]) {
      let pulled = 0;
      const endless = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode(head)),
        pull(controller) {
          pulled += 1000;
          controller.enqueue(new Uint8Array(1000).fill(65));
        },
      });
      const response = await upload(endless, { type });
      expect(response.status).toBe(413);
      expect(pulled).toBeLessThan(100_000);
    }
  });
});

test("an upload may be removed by its owner, once", async () => {
  const remove = (id: string, who: string): Promise<Response> =>
    echo.handler.fetch(
      new Request(`http://x/files/${id}`, { method: "DELETE", headers: { authorization: who } }),
    );
  const { id } = (await (await upload(bodyOf(pdf))).json()) as { id: string };
  const other = await remove(id, "Bearer bob");
  expect([other.status, await other.json()]).toMatchObject([
    404,
    { code: "file-not-found", detail: `There is no file "${id}".` },
  ]);
  expect((await refer(id)).status).toBe(200);
  expect((await remove(id, "Bearer ann")).status).toBe(204);
  expect((await remove(id, "Bearer ann")).status).toBe(404);
  expect((await refer(id)).status).toBe(400);
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
  expect(paths["/files/{id}"]).toMatchObject({ delete: { operationId: "deleteFile" } });
});
