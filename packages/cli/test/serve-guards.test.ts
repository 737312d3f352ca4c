import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { hostname } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { held } from "../../../scripts/test-support/held.ts";
import { listen } from "../../node/test/_listen.ts";
import { scratch } from "./_cli.ts";
import { buildPage, hello, serveHere, write } from "./_serve.ts";
import type { Served } from "./_serve.ts";

beforeAll(buildPage);

interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string;
}

interface Got {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

// `fetch` does not let one lie about Host and Origin.
function send({ port }: Pick<Served, "port">, options: Sent): Promise<Got> {
  const { method = "GET", path = "/agui/info", headers = {}, body } = options;
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, method, path, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode!, headers: response.headers, text }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** The hosts of this list for which some path is answered. */
async function answeredTo(cli: Pick<Served, "port">, hosts: readonly string[]): Promise<string[]> {
  const answered: string[] = [];
  for (const host of hosts) {
    for (const path of ["/", "/agui/info", "/_holodeck/info", "/threads", "/health"]) {
      const { status } = await send(cli, { path, headers: { host } });
      if (status < 400) answered.push(`${host} ${path}: ${status}`);
    }
  }
  return answered;
}

const question = JSON.stringify({ messages: [{ role: "user", content: "hi" }] });

function run(headers: Record<string, string>): Sent {
  return {
    method: "POST",
    path: "/agui",
    headers: { "content-type": "application/json", ...headers },
    body: question,
  };
}

const foreignHosts = (port: number): string[] => [
  `evil.example:${port}`,
  "localhost",
  "localhost:1",
  `localhost.evil.example:${port}`,
  `localhost@evil.example:${port}`,
  `evil.example@localhost:${port}`,
  `localhost:${port}@evil.example`,
  `localhost.:${port}`,
  `127.0.0.1.evil.example:${port}`,
  `127.0.0.1.nip.io:${port}`,
  `0x7f000001:${port}`,
  `2130706433:${port}`,
  `127.1:${port}`,
  `[::ffff:127.0.0.1]:${port}`,
  `[::1]`,
  `169.254.169.254:${port}`,
  `xn--localhost-x:${port}`,
  `localhost:${port}, evil.example`,
  `http://localhost:${port}`,
];

const foreignOrigins = (port: number): Record<string, string>[] => [
  { origin: "http://evil.example" },
  { origin: "null" },
  { origin: `http://localhost:${port}` },
  { origin: `https://127.0.0.1:${port}` },
  { origin: "http://localhost:3001", "sec-fetch-site": "same-site" },
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
  // A form needs no preflight.
  { origin: "http://evil.example", "content-type": "text/plain" },
  { origin: "http://evil.example", "content-type": "application/x-www-form-urlencoded" },
  { origin: "https://localhost:3000" },
  { origin: "http://localhost:3000.evil.example" },
  { origin: "http://LOCALHOST:3000/" },
  { origin: "http://localhost:30000" },
  { origin: "file://" },
  { origin: "" },
];

const outside = [
  "/nothing",
  "/../package.json",
  "/%2e%2e/package.json",
  "/assets/",
  "/index.html/x",
  "/assets/../../package.json",
  "/assets/%2e%2e/%2e%2e/package.json",
  "/assets/..%2f..%2fpackage.json",
  "/assets/..%5c..%5cpackage.json",
  "/assets/..\\..\\package.json",
  "/assets/....//package.json",
  "/assets/%00",
  "/assets/index.html%00.js",
  "//etc/passwd",
  "/%2fetc%2fpasswd",
  "/assets/%c0%ae%c0%ae/package.json",
];

/** The origins of this list that may start a run. */
async function acceptedOf(
  cli: Pick<Served, "port">,
  list: readonly Record<string, string>[],
): Promise<string[]> {
  const accepted: string[] = [];
  for (const headers of list) {
    const { status } = await send(cli, run(headers));
    if (status < 400) accepted.push(JSON.stringify(headers));
  }
  return accepted;
}

/** The paths of this list at which there is something. */
async function foundOf(cli: Pick<Served, "port">, paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) if ((await send(cli, { path })).status < 400) found.push(path);
  return found;
}

describe("a server on this machine", () => {
  test("answers only to its own names and only to its own pages", async () => {
    const file = write(scratch(), { "agent.mjs": hello });
    const cli = await serveHere([file, "--cors-origins", "http://localhost:3000"]);
    const { port } = cli;

    for (const host of [
      `localhost:${port}`,
      `127.0.0.1:${port}`,
      `[::1]:${port}`,
      `LOCALHOST:${port}`,
    ]) {
      expect((await send(cli, { headers: { host } })).status, host).toBe(200);
    }
    const rebound = foreignHosts(port);
    held(
      "names that `holodeck serve` does not answer to",
      rebound.length,
      await answeredTo(cli, rebound),
    );
    for (const host of rebound.slice(0, 5)) {
      for (const path of ["/", "/agui/info", "/_holodeck/info", "/threads", "/health"]) {
        const { status, headers, text } = await send(cli, { path, headers: { host } });
        expect({ status, type: headers["content-type"] }, host).toEqual({
          status: 403,
          type: "application/problem+json",
        });
        expect(JSON.parse(text)).toMatchObject({
          code: "forbidden",
          detail: expect.stringContaining(host.toLowerCase()),
        });
      }
    }

    const own = `http://127.0.0.1:${port}`;
    const accepted: Record<string, string>[] = [
      {},
      { origin: own },
      { origin: own, "sec-fetch-site": "same-origin" },
      { origin: `http://localhost:${port}`, host: `localhost:${port}` },
      { origin: "http://localhost:3000", "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
    ];
    for (const headers of accepted) {
      expect((await send(cli, run(headers))).status, JSON.stringify(headers)).toBe(200);
    }
    const refused = foreignOrigins(port);
    held(
      "origins that `holodeck serve` does not accept",
      refused.length,
      await acceptedOf(cli, refused),
    );
    for (const headers of refused) {
      const answer = await send(cli, run(headers));
      expect(answer.status, JSON.stringify(headers)).toBe(403);
      expect(answer.headers["content-type"]).toBe("application/problem+json");
      expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
      expect(JSON.parse(answer.text)).toMatchObject({
        detail: expect.stringContaining("--cors-origins"),
      });
    }
    for (const method of ["DELETE", "PATCH", "PUT"]) {
      const headers = { origin: "http://evil.example" };
      expect((await send(cli, { method, path: "/agui/threads/x", headers })).status).toBe(403);
    }

    // What may not be read elsewhere is not made readable.
    const listed = await send(cli, {
      path: "/threads",
      headers: { origin: "http://evil.example" },
    });
    expect(listed.headers["access-control-allow-origin"]).toBeUndefined();
    const friend = await send(cli, {
      path: "/threads",
      headers: { origin: "http://localhost:3000" },
    });
    expect(friend.headers["access-control-allow-origin"]).toBe("http://localhost:3000");
    expect(friend.headers["access-control-allow-credentials"]).toBeUndefined();
    const preflight = await send(cli, {
      method: "OPTIONS",
      path: "/agui",
      headers: { origin: "http://localhost:3000", "access-control-request-method": "POST" },
    });
    expect(preflight).toMatchObject({
      status: 204,
      headers: { "access-control-allow-origin": "http://localhost:3000" },
    });
  });

  test("lets every page in with --cors-origins *, without credentials", async () => {
    const file = write(scratch(), { "agent.mjs": hello });
    const cli = await serveHere([file, "--cors-origins", "*"]);
    const { status, headers } = await send(
      cli,
      run({ origin: "http://any.example", "sec-fetch-site": "cross-site" }),
    );
    expect(status).toBe(200);
    expect(headers["access-control-allow-origin"]).toBe("*");
    expect(headers["access-control-allow-credentials"]).toBeUndefined();
    const rebound = await send(cli, { headers: { host: `evil.example:${cli.port}` } });
    expect(rebound.status).toBe(403);
  });
});

describe("a server on every interface", () => {
  test("warns, and answers to addresses and this machine's name, but to no other name", async () => {
    const file = write(scratch(), { "agent.mjs": hello });
    const cli = await serveHere([file, "--host", "0.0.0.0"]);
    await cli.waitFor(/Warning: listening on 0\.0\.0\.0\. Anyone on the network can use the agent/);
    expect(cli.url).toBe(`http://localhost:${cli.port}`);
    for (const host of [
      `192.0.2.7:${cli.port}`,
      "[2001:db8::1]:9000",
      "localhost:9000",
      `${hostname()}:${cli.port}`,
    ]) {
      expect((await send(cli, { headers: { host } })).status, host).toBe(200);
    }
    for (const host of [`evil.example:${cli.port}`, "192.0.2.7.evil.example", "[]"]) {
      expect((await send(cli, { headers: { host } })).status, host).toBe(403);
    }
    const cross = run({ origin: "http://evil.example", host: `192.0.2.7:${cli.port}` });
    expect((await send(cli, cross)).status).toBe(403);
  });
});

describe("the page", () => {
  test("stands at / with a strict policy, beside what the page asks the server", async () => {
    const sloppy = `export default async function* () { yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "x" }; }\n`;
    const file = write(scratch(), { "agent.mjs": sloppy });
    const cli = await serveHere([file], { env: { AGUI_MAX_THREADS: "7" } });
    expect(cli.out).toMatch(/^ {2}Playground +http:\/\/127\.0\.0\.1:\d+\/$/m);
    const page = await send(cli, { path: "/" });
    expect(page.status).toBe(200);
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
    expect(page.headers["content-security-policy"]).not.toContain("unsafe");
    const assets = [...page.text.matchAll(/(?:src|href)="\.?(\/assets\/[^"]+)"/g)].map(
      ([, path]) => path!,
    );
    expect(assets).not.toEqual([]);
    for (const path of assets) {
      const asset = await send(cli, { path });
      expect(asset.status, path).toBe(200);
      expect(asset.headers["x-content-type-options"]).toBe("nosniff");
    }
    expect(await send(cli, { path: "/", method: "HEAD" })).toMatchObject({ status: 200, text: "" });
    held("paths outside of the page", outside.length, await foundOf(cli, outside));
    for (const path of outside) {
      const { status, headers } = await send(cli, { path });
      expect({ status, type: headers["content-type"] }, path).toEqual({
        status: 404,
        type: "application/problem+json",
      });
    }
    for (const path of ["/", "/health", "/agui/info", "/nothing"]) {
      expect((await send(cli, { path })).headers["x-content-type-options"], path).toBe("nosniff");
    }

    const info = JSON.parse((await send(cli, { path: "/_holodeck/info" })).text);
    expect(info).toMatchObject({
      version: expect.stringMatching(/^\d/),
      sessions: "memory",
      limits: { bodyBytes: 14 * 1024 * 1024, maxSessions: 7, maxConcurrentRuns: null },
      playground: true,
    });
    await send(cli, {
      ...run({}),
      body: JSON.stringify({ ...JSON.parse(question), runId: "r-1" }),
    });
    const { text } = await send(cli, { path: "/_holodeck/runs/r-1/repairs" });
    expect(JSON.parse(text)).toEqual({
      repairs: [{ stage: "agent", repairs: expect.any(Object), first: expect.anything() }],
    });
    expect(Object.values(JSON.parse(text).repairs[0].repairs)).not.toEqual([]);
    expect(JSON.parse((await send(cli, { path: "/_holodeck/runs/none/repairs" })).text)).toEqual({
      repairs: [],
    });
  });

  test("is left out by --no-playground", async () => {
    const file = write(scratch(), { "agent.mjs": hello });
    const cli = await serveHere([file, "--no-playground"]);
    expect(cli.out).not.toContain("Playground");
    expect((await send(cli, { path: "/" })).status).toBe(404);
    expect(JSON.parse((await send(cli, { path: "/_holodeck/info" })).text)).toMatchObject({
      playground: false,
    });
    expect((await send(cli, run({}))).status).toBe(200);
  });
});

describe("planted faults are noticed:", () => {
  test("a proxy that sends every request in the server's own name", async () => {
    const file = write(scratch(), { "agent.mjs": hello });
    const { port: inner } = await serveHere([file]);
    const proxy = createServer((received, response) => {
      const { method, url: path, headers } = received;
      const type = headers["content-type"];
      const own = { host: `127.0.0.1:${inner}`, ...(type && { "content-type": type }) };
      const sent = request({ host: "127.0.0.1", port: inner, method, path, headers: own });
      sent.on("response", (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      received.pipe(sent);
    });
    const careless = await listen(proxy);
    onTestFinished(careless.close);
    const hosts = foreignHosts(careless.port);
    expect((await answeredTo(careless, hosts)).length).toBeGreaterThanOrEqual(hosts.length);
    const origins = foreignOrigins(careless.port);
    const isJson = ({ "content-type": type }: Record<string, string>): boolean => !type;
    expect(await acceptedOf(careless, origins)).toHaveLength(origins.filter(isJson).length);
  });

  test("a server that takes paths for names of files", async () => {
    const folder = scratch();
    write(folder, { "package.json": "{}", "page/assets/index.html": "" });
    const careless = await listen(
      createServer(({ url }, response) => {
        try {
          response.end(readFileSync(join(folder, "page", decodeURIComponent(url!))));
        } catch {
          response.writeHead(404).end();
        }
      }),
    );
    onTestFinished(careless.close);
    expect((await foundOf(careless, outside)).length).toBeGreaterThan(2);
  });
});
