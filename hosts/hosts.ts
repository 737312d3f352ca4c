import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { onBun, onDeno, onFramework, onNode, onWorkerd, onWrangler } from "./lib/launch.ts";
import type { Host } from "./lib/launch.ts";
import { createHttp2Fetch, createHttpsFetch } from "./lib/node-fetch.ts";
import { cache } from "./lib/peers.ts";

const newest = "2026-11-10";
const flags = ["nodejs_compat"];
const peers = "servers";

/** Every host, in the order of the page on hosts. */
export const hosts: readonly Host[] = [
  onNode({
    name: "node-20",
    title: "Node 20.19, `node:http`",
    server: "node.mjs",
    version: "node-20",
  }),
  onNode({
    name: "node-22",
    title: "Node 22, `node:http`",
    server: "node.mjs",
    version: "node-22",
  }),
  onNode({ name: "node-24", title: "Node 24, `node:http`", server: "node.mjs" }),
  onNode({
    name: "node-26",
    title: "Node 26, `node:http`",
    server: "node.mjs",
    version: "node-26",
  }),
  overTls(),
  onNode({
    name: "http2",
    title: "Node 24, `node:http2`",
    server: "node-http2.mjs",
    connect(port) {
      const origin = `http://127.0.0.1:${port}`;
      return { url: `${origin}/api`, fetch: createHttp2Fetch(origin) };
    },
  }),
  onNode({ name: "express-4", title: "Express 4", server: "express-4.mjs", peers }),
  onNode({ name: "express-5", title: "Express 5", server: "express.mjs", peers }),
  onNode({ name: "fastify-4", title: "Fastify 4", server: "fastify-4.mjs", peers }),
  onNode({ name: "fastify-5", title: "Fastify 5", server: "fastify.mjs", peers }),
  onNode({ name: "hono-node", title: "Hono on Node", server: "hono-node.mjs", peers }),
  onBun({ name: "hono-bun", title: "Hono on Bun", server: "hono-bun.mjs", peers }),
  onDeno({ name: "hono-deno", title: "Hono on Deno", server: "hono-deno.mjs", peers }),
  onWorkerd({
    name: "hono-worker",
    title: "Hono on Workers",
    date: newest,
    server: "hono-worker.mjs",
  }),
  onBun({ name: "bun", title: "Bun.serve", server: "bun.mjs" }),
  onDeno({ name: "deno", title: "Deno.serve", server: "deno.mjs" }),
  onWorkerd({ name: "worker", title: `Worker, ${newest}`, date: newest }),
  onWorkerd({
    name: "worker-slim",
    title: `Worker, ${newest}, \`@holodeck/agui/slim\``,
    date: newest,
    server: "worker-slim.mjs",
    except: {
      protobuf: "the slim entry has no protobuf",
      discovery: "the slim entry has no OpenAPI document",
    },
  }),
  onWorkerd({
    name: "worker-compat",
    title: `Worker, ${newest}, \`nodejs_compat\``,
    date: newest,
    flags,
  }),
  onWorkerd({ name: "worker-2025", title: "Worker, 2025-05-01", date: "2025-05-01" }),
  onWorkerd({
    name: "worker-2025-compat",
    title: "Worker, 2025-05-01, `nodejs_compat`",
    date: "2025-05-01",
    flags,
  }),
  onWorkerd({ name: "worker-2024", title: "Worker, 2024-09-23", date: "2024-09-23" }),
  onWorkerd({
    name: "worker-2024-compat",
    title: "Worker, 2024-09-23, `nodejs_compat`",
    date: "2024-09-23",
    flags,
  }),
  onWrangler({
    name: "wrangler",
    title: "`wrangler dev`",
    date: newest,
    server: "worker.mjs",
    except: {
      "after a disconnect": "its proxy may report after the next request that a client has left",
    },
  }),
  onWorkerd({
    name: "durable-object",
    title: "Durable Object",
    date: newest,
    server: "durable-object.mjs",
    actor: "Agents",
  }),
  onFramework({
    name: "next-15",
    title: "Next.js 15, nodejs",
    project: "next",
    peers: "next-15",
    build: ["node_modules/next/dist/bin/next", "build"],
    serve: ["node_modules/next/dist/bin/next", "start", "-p", "PORT", "-H", "127.0.0.1"],
  }),
  onFramework({
    name: "next-16",
    title: "Next.js 16, nodejs",
    project: "next",
    peers: "next-16",
    build: ["node_modules/next/dist/bin/next", "build"],
    serve: ["node_modules/next/dist/bin/next", "start", "-p", "PORT", "-H", "127.0.0.1"],
  }),
  onNode({ name: "nest", title: "NestJS 12", server: "nest.mjs", peers }),
  onNode({ name: "koa", title: "Koa 3", server: "koa.mjs", peers }),
  onNode({ name: "h3", title: "h3 2", server: "h3.mjs", peers }),
  onFramework({
    name: "nitro",
    title: "Nitro 2",
    project: "nitro",
    build: ["node_modules/nitropack/dist/cli/index.mjs", "build"],
    serve: [".output/server/index.mjs"],
    env: { NITRO_HOST: "127.0.0.1" },
  }),
  onBun({ name: "elysia", title: "Elysia on Bun", server: "elysia.mjs", peers }),
  onFramework({
    name: "sveltekit",
    title: "SvelteKit 3",
    project: "sveltekit",
    build: ["node_modules/vite/bin/vite.js", "build"],
    serve: ["build/index.js"],
    env: { HOST: "127.0.0.1", BODY_SIZE_LIMIT: "Infinity" },
  }),
  onFramework({
    name: "astro",
    title: "Astro 7",
    project: "astro",
    build: ["node_modules/astro/bin/astro.mjs", "build"],
    serve: ["dist/server/entry.mjs"],
    env: { HOST: "127.0.0.1", ASTRO_TELEMETRY_DISABLED: "1" },
  }),
  onFramework({
    name: "react-router",
    title: "React Router 8",
    project: "react-router",
    build: ["node_modules/@react-router/dev/bin.cjs", "build"],
    serve: ["node_modules/@react-router/serve/bin.cjs", "build/server/index.js"],
    env: { HOST: "127.0.0.1" },
  }),
  onNode({
    name: "lambda",
    title: "AWS Lambda, response streaming",
    server: "lambda/index.mjs",
    except: lambdaLimits(),
  }),
];

function overTls(): Host {
  const cert = join(cache, "cert.pem");
  const key = join(cache, "key.pem");
  const env = { CERT: cert, KEY: key };
  const host = onNode({
    name: "https",
    title: "Node 24, `node:https`",
    server: "node-https.mjs",
    env,
  });
  return {
    ...host,
    prepare(port) {
      const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
      const kind = ["-newkey", "rsa:2048", "-nodes", "-days", "1", "-keyout", key, "-out", cert];
      execFileSync("openssl", ["req", "-x509", ...kind, ...subject], { stdio: "pipe" });
      return host.prepare(port);
    },
    connect: (port) => ({
      url: `https://127.0.0.1:${port}/api`,
      fetch: createHttpsFetch(readFileSync(cert, "utf8")),
    }),
  };
}

/** The service does not report that a client has left. */
function lambdaLimits(): Record<string, string> {
  const reason = "a function does not learn that its client has left";
  return { disconnect: reason, "after a disconnect": reason };
}
