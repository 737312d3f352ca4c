import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ExtractFilesOptions } from "../src/index.ts";
import { isPublic } from "../src/process/fetch-url.ts";
import { serveEcho, textOf, toAgui, types } from "./_serve.ts";

const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(request.url!);
  const port = (server.address() as AddressInfo).port;
  if (request.url === "/there.txt") {
    response.writeHead(200, { "content-type": "text/plain; charset=utf-8" }).end("From afar");
  } else if (request.url === "/moved") {
    response.writeHead(302, { location: "/there.txt" }).end();
  } else if (request.url === "/away") {
    response.writeHead(302, { location: `http://localhost:${port}/there.txt` }).end();
  } else if (request.url === "/round") {
    response.writeHead(302, { location: "/round" }).end();
  } else if (request.url === "/large.txt") {
    response.writeHead(200).end("x".repeat(2000));
  } else if (request.url === "/silent") {
    response.writeHead(200).write("x");
  } else {
    response.writeHead(404).end("a secret of the network");
  }
});
let origin = "";

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function refer(
  source: Record<string, unknown>,
  options: ExtractFilesOptions = {},
): Promise<{ status: number; text: string; answer: string }> {
  const { handler, seen } = serveEcho(options, { limits: { fileBytes: 1000 } });
  const response = await handler.fetch(
    toAgui([
      { type: "text", text: "Read" },
      { type: "document", source },
    ]),
  );
  const answer = await response.text();
  await handler.close();
  const [message] = seen.messages;
  return { status: response.status, answer, text: message ? textOf(message) : "" };
}

describe("an address", () => {
  test("is never fetched unless the host allows it, and the client gets an error", async () => {
    asked.length = 0;
    const { status, answer } = await refer({ type: "url", value: `${origin}/there.txt` });
    expect(status).toBe(400);
    expect(JSON.parse(answer)).toMatchObject({
      code: "file-not-found",
      detail: `"file-1" cannot be read: this server does not fetch the address "${origin}/there.txt".`,
    });
    expect(asked).toEqual([]);
  });

  test.each(["/there.txt", "/moved"])("on the list is fetched: %s", async (path) => {
    const resolveUrl = { allow: [origin], allowPrivate: true };
    const { text } = await refer({ type: "url", value: origin + path }, { resolveUrl });
    expect(text).toBe("Read\n\n## File: there.txt\nFrom afar");
  });

  test("on the list that leads into the own network is not fetched", async () => {
    asked.length = 0;
    const port = new URL(origin).port;
    for (const host of ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"]) {
      const value = `http://${host}:${port}/there.txt`;
      const resolveUrl = { allow: [new URL(value).origin] };
      expect((await refer({ type: "url", value }, { resolveUrl })).status).toBe(400);
    }
    expect(asked).toEqual([]);
  });

  test.each(["/away", "/round", "/large.txt", "/none", "/silent"])(
    "is refused without the network's answer: %s",
    async (path) => {
      const resolveUrl = { allow: [origin], allowPrivate: true, timeoutMs: 300 };
      const { status, answer } = await refer({ type: "url", value: origin + path }, { resolveUrl });
      expect(status).toBe(400);
      expect(answer).toContain("does not fetch the address");
      expect(answer).not.toContain("secret");
    },
  );

  test.each(["file:///etc/passwd", "ftp://x/y", "http://user:pass@127.0.0.1/"])(
    "of another kind is refused: %s",
    async (value) => {
      const resolveUrl = { allow: ["http://127.0.0.1"], allowPrivate: true };
      expect((await refer({ type: "url", value }, { resolveUrl })).status).toBe(400);
    },
  );

  test("may be resolved by the host itself, for whom it trusts", async () => {
    const { text } = await refer(
      { type: "url", value: "https://own.example/a" },
      {
        resolveUrl: (url, { maxBytes }) => ({
          bytes: new TextEncoder().encode(`${url} ${maxBytes}`),
          mimeType: types.txt,
          name: "a.txt",
        }),
      },
    );
    expect(text).toBe("Read\n\n## File: a.txt\nhttps://own.example/a 1000");
  });
});

describe("an id", () => {
  test("that is unknown is an error that the client sees", async () => {
    const { status, answer } = await refer({ type: "file", value: "f-1" });
    expect(status).toBe(400);
    expect(JSON.parse(answer)).toMatchObject({
      code: "file-not-found",
      detail: '"file-1" cannot be read: there is no file "f-1".',
    });
  });

  test("may be resolved by the host", async () => {
    const resolveFileId: ExtractFilesOptions["resolveFileId"] = (id, { provider }) =>
      id === "f-1"
        ? {
            bytes: new TextEncoder().encode(`known to ${provider}`),
            name: "k.txt",
            mimeType: types.txt,
          }
        : undefined;
    const known = await refer({ type: "file", value: "f-1", provider: "me" }, { resolveFileId });
    expect(known.text).toContain("known to me");
    expect((await refer({ type: "file", value: "f-2" }, { resolveFileId })).status).toBe(400);
  });
});

test.each([
  ["8.8.8.8", true],
  ["2606:4700::1111", true],
  ["127.0.0.1", false],
  ["10.1.2.3", false],
  ["172.31.0.1", false],
  ["192.168.1.1", false],
  ["169.254.169.254", false],
  ["100.64.0.1", false],
  ["0.0.0.0", false],
  ["224.0.0.1", false],
  ["255.255.255.255", false],
  ["::1", false],
  ["::", false],
  ["::ffff:8.8.8.8", false],
  ["fd00::1", false],
  ["fe80::1", false],
  ["64:ff9b::7f00:1", false],
  ["2002:7f00:1::", false],
  ["localhost", false],
])("knows whether %s is an address of the internet: %s", (address, expected) => {
  expect(isPublic(address)).toBe(expected);
});
