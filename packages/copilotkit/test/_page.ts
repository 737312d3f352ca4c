import { toNodeHandler } from "@holodeck/agui-node";
import type { AgentHandler } from "@holodeck/agui";
import { build } from "esbuild";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import type { Browser } from "playwright-core";
import {
  chromiumFlags,
  findChromium,
  howToGetChromium,
} from "../../../scripts/test-support/chromium.ts";
import { reportMissing } from "../../../scripts/test-support/missing.ts";

const source = fileURLToPath(new URL("./page/", import.meta.url));
const files = ["package.json", "package-lock.json", "page.jsx"];
// React and CopilotKit's components are half a gigabyte: not for everybody who installs the workspace.
const cache = fileURLToPath(
  new URL("../../../node_modules/.cache/copilotkit-page/", import.meta.url),
);

/**
 * A browser and the built page, or nothing when one of them cannot be had; then the caller skips, and
 * this says so. With `CI=true` it fails instead.
 */
export async function openBrowser(suite: string): Promise<Browser | undefined> {
  const executablePath = findChromium();
  const missing = executablePath ? await buildPage() : howToGetChromium;
  if (executablePath && missing === undefined) {
    return chromium.launch({ executablePath, args: [...chromiumFlags] });
  }
  reportMissing(suite, missing ?? howToGetChromium);
  return undefined;
}

/** Serves the page and, beside it, a handler, on one free port. */
export async function servePage(
  handler: AgentHandler,
): Promise<{ url: string; close: () => Promise<void> }> {
  const agents = toNodeHandler(handler);
  const server = createServer((req, res) => {
    const { pathname } = new URL(req.url ?? "/", "http://localhost");
    if (pathname.startsWith("/agui")) return agents(req, res);
    if (pathname === "/") {
      res.setHeader("content-type", "text/html; charset=utf-8");
      return res.end(html);
    }
    const file = join(cache, "dist", basename(pathname));
    if (!existsSync(file)) return res.writeHead(404).end();
    const types: Record<string, string> = { ".js": "text/javascript", ".css": "text/css" };
    res.setHeader("content-type", types[extname(file)] ?? "application/octet-stream");
    res.end(readFileSync(file));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const html = `<!doctype html>
<html lang="en">
  <head>
    <title>CopilotKit</title>
    <link rel="stylesheet" href="/page.css" />
    <style>body, #root { height: 100vh; margin: 0 }</style>
  </head>
  <body>
    <div id="root"></div>
    <script type="module" src="/page.js"></script>
  </body>
</html>`;

/** Installs and bundles what the page needs, unless that was done before. Says what is missing. */
async function buildPage(): Promise<string | undefined> {
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(join(source, file)));
  const stamp = join(cache, "built");
  const digest = hash.digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return undefined;
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  for (const file of files) cpSync(join(source, file), join(cache, file));
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  const npm = spawn("npm", ["ci", ...flags], { cwd: cache, stdio: "ignore" });
  const [code] = (await once(npm, "exit")) as [number | null];
  if (code !== 0) return `the packages of ${join("test", "page")}, and npm could not fetch them`;
  await build({
    entryPoints: [join(cache, "page.jsx")],
    outdir: join(cache, "dist"),
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    loader: { ".woff": "empty", ".woff2": "empty", ".ttf": "empty" },
    logLevel: "error",
  });
  writeFileSync(stamp, digest);
  return undefined;
}
