import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@holodeck/agui-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makePdf } from "./_make.ts";
import { serveEcho, types, ways, patience } from "./_serve.ts";

const tempDir = await mkdtemp(join(tmpdir(), "lies-test-"));
const echo = serveEcho({ tempDir, spoolBytes: 1000 });
let server: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  server = await serve(echo.handler, { port: 0 });
});
afterAll(async () => {
  await server.close();
  await rm(tempDir, { recursive: true });
});

const text = { name: "a.txt", mimeType: types.txt, bytes: new Uint8Array(5000).fill(65) };

interface Told {
  readonly status: number | undefined;
  readonly text: string;
}

/** Sends a request with a length of its own choice over a socket; perhaps hangs up when that is all. */
async function lie(
  way: string,
  length: (real: number) => number,
  { hangsUp = false } = {},
): Promise<Told> {
  const request = ways[way]!("Read", [text]);
  const body = Buffer.from(await request.arrayBuffer());
  const { pathname } = new URL(request.url);
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  // A server that has answered may close while the rest is still being sent.
  socket.on("error", () => undefined);
  socket.write(
    `POST ${pathname} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: ${request.headers.get("content-type")}\r\ncontent-length: ${length(body.length)}\r\n\r\n`,
  );
  if (hangsUp) socket.end(body);
  else socket.write(body);
  await once(socket, "close");
  const answer = Buffer.concat(chunks).toString();
  const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1];
  return { status: status === undefined ? undefined : Number(status), text: answer };
}

describe.each(Object.keys(ways))("over %s", (way) => {
  test("a body that ends before its length is over reaches no agent", async () => {
    echo.seen.messages = [];
    const { status } = await lie(way, (real) => real + 1000, { hangsUp: true });
    // Whoever has hung up is not always there to be told.
    expect([undefined, 400]).toContain(status);
    expect(echo.seen.messages).toEqual([]);
    await expect.poll(() => readdir(tempDir), patience).toEqual([]);
  });

  test("a body that is longer than its length is cut there, and reaches no agent", async () => {
    echo.seen.messages = [];
    const { status } = await lie(way, (real) => real - 100);
    expect(status).toBe(400);
    expect(echo.seen.messages).toEqual([]);
    await expect.poll(() => readdir(tempDir), patience).toEqual([]);
  });

  test("a length beyond the limit is refused before the body is there", async () => {
    echo.seen.messages = [];
    const { status, text: answer } = await lie(way, () => 10 ** 12);
    expect(status).toBe(413);
    expect(answer).toContain("payload-too-large");
    expect(echo.seen.messages).toEqual([]);
  });

  test("an honest one is answered as before", async () => {
    const { status } = await lie(way, (real) => real);
    expect(status).toBe(200);
    await expect.poll(() => readdir(tempDir), patience).toEqual([]);
  });
});

// A type that the bytes do not bear out, the other way round for every kind that is known.
describe.each(Object.keys(ways))("over %s a PDF", (way) => {
  test.each([types.png, types.docx, types.xlsx, types.pptx, types.txt, types.csv, types.md])(
    "is not taken for %s",
    async (mimeType) => {
      const file = { name: "lie", mimeType, bytes: await makePdf("x") };
      const response = await echo.handler.fetch(ways[way]!("Read", [file]));
      expect([response.status, await response.json()]).toMatchObject([
        400,
        {
          code: "unsupported-media-type",
          detail: `"lie" is declared as ${mimeType}, but its content is application/pdf.`,
        },
      ]);
    },
  );
});
