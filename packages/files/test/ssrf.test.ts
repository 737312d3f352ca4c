// Addresses that a client may hope the server fetches for it. The allow list has their origins, so that it is not the list
// that refuses them; the servers behind them count what they are asked.
import { once } from "node:events";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { held } from "../../../scripts/test-support/held.ts";
import { serveEcho, toAgui } from "./_serve.ts";

const secret = "a secret of the network";
let asked = 0;

/** A service of the private network: it must not be asked. */
const inner = createServer((_request, response) => {
  asked++;
  response.writeHead(200, { "content-type": "text/plain" }).end(secret);
});

/** A server that may be asked, and redirects, hangs or never ends. */
const outer = createServer((request, response) => {
  const { searchParams, pathname } = new URL(request.url!, "http://outer");
  const to = searchParams.get("to");
  if (to !== null) return void response.writeHead(302, { location: to }).end();
  if (pathname === "/loop") return void response.writeHead(302, { location: "/loop" }).end();
  if (pathname === "/chain") {
    const step = Number(searchParams.get("step") ?? 0) + 1;
    return void response.writeHead(302, { location: `/chain?step=${step}` }).end();
  }
  if (pathname === "/hang") return;
  if (pathname === "/trickle") return void response.writeHead(200).write("x");
  if (pathname === "/endless") {
    response.writeHead(200, { "content-type": "text/plain" });
    const more = (): void => {
      while (!response.destroyed && response.write("x".repeat(1000)));
    };
    response.on("drain", more);
    return more();
  }
  if (pathname === "/broken") {
    response.writeHead(200, { "content-length": "5000" }).write("x");
    return void response.socket?.destroy();
  }
  response.writeHead(500).end(secret);
});

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

let innerPort = 0;
let outerOrigin = "";
beforeAll(async () => {
  innerPort = await listen(inner);
  outerOrigin = `http://127.0.0.1:${await listen(outer)}`;
});
afterAll(() => {
  for (const server of [inner, outer]) {
    server.closeAllConnections();
    server.close();
  }
});

/** This machine and its network, in every spelling. */
const hosts = [
  "127.0.0.1",
  "127.1",
  "127.255.255.254",
  "2130706433",
  "017700000001",
  "0x7f000001",
  "0x7f.0.0.1",
  "0177.0.0.1",
  "0",
  "0.0.0.0",
  "localhost",
  "LOCALHOST.",
  "①②⑦.0.0.1",
  "127。0。0。1",
  "[::1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[0:0:0:0:0:ffff:127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b:1::7f00:1]",
  "[2002:7f00:1::]",
  "[2001:0:7f00:1::]",
  "[fe80::1]",
  "[fc00::1]",
  "[ff02::1]",
  "10.0.0.1",
  "172.16.0.1",
  "192.168.0.1",
  "100.64.0.1",
  "169.254.169.254",
  "[fd00:ec2::254]",
  "198.18.0.1",
  "192.0.2.1",
  "224.0.0.1",
  "255.255.255.255",
];

/** Where an allowed server leads. */
const redirects = (): string[] => [
  `http://127.0.0.1:${innerPort}/`,
  `http://localhost:${innerPort}/`,
  `//127.0.0.1:${innerPort}/`,
  `http://user:pass@127.0.0.1:${innerPort}/`,
  "file:///etc/passwd",
  "data:text/plain,hello",
  "ftp://127.0.0.1/",
  "javascript:1",
  "gopher://127.0.0.1:70/",
  "http://",
];

const places = ["/loop", "/chain", "/hang", "/trickle", "/endless", "/broken", "/none"];

async function refer(
  value: string,
  allow: readonly string[],
  allowPrivate: boolean,
): Promise<string> {
  const resolveUrl = { allow, allowPrivate, timeoutMs: 300 };
  const { handler } = serveEcho({ resolveUrl }, { limits: { fileBytes: 1_000 } });
  const source = { type: "url", value };
  const response = await handler.fetch(
    toAgui([
      { type: "text", text: "Read" },
      { type: "document", source },
    ]),
  );
  const text = await response.text();
  await handler.close();
  return `${response.status} ${text}`;
}

const isRefused = (answer: string): boolean =>
  answer.startsWith("400 ") && !answer.includes(secret);

test("an address that leads into the network is not fetched, however it is written", async () => {
  const through: string[] = [];
  const attempt = async (
    value: string,
    allow: readonly string[],
    isPrivate: boolean,
  ): Promise<void> => {
    const answer = await refer(value, allow, isPrivate);
    if (!isRefused(answer)) through.push(`${value}: ${answer}`);
  };
  let tried = 0;
  for (const host of hosts) {
    tried++;
    const value = `http://${host}:${innerPort}/`;
    await attempt(value, URL.canParse(value) ? [new URL(value).origin] : [], false);
  }
  for (const to of redirects()) {
    tried++;
    await attempt(`${outerOrigin}/?to=${encodeURIComponent(to)}`, [outerOrigin], true);
  }
  for (const place of places) {
    tried++;
    await attempt(outerOrigin + place, [outerOrigin], true);
  }
  expect(asked).toBe(0);
  held("addresses that lead into the network", tried, through);
});

test("the service is there, and is found when the host allows it", async () => {
  asked = 0;
  const origin = `http://127.0.0.1:${innerPort}`;
  expect(isRefused(await refer(`${origin}/`, [origin], true))).toBe(false);
  expect(asked).toBe(1);
});
