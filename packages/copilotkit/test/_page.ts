import { toNodeHandler } from "@holodeck/agui-node";
import type { AgentHandler } from "@holodeck/agui";
import { build } from "esbuild";
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import type { Browser } from "playwright-core";

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
  const missing = executablePath ? await buildPage() : "chromium: apt-get install chromium";
  if (executablePath && missing === undefined) {
    // As root, as in most containers, it does not start within its sandbox.
    return chromium.launch({ executablePath, args: ["--no-sandbox"] });
  }
  const line = `NOT RUN: ${suite}. It needs ${missing}.`;
  if (process.env.CI === "true") throw new Error(line);
  process.stderr.write(`${line}\n`);
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

function findChromium(): string | undefined {
  const { CHROMIUM } = process.env;
  const names = [CHROMIUM, "chromium", "chromium-browser", "google-chrome"];
  for (const name of names) {
    const found = name && spawnSync("which", [name], { encoding: "utf8" }).stdout?.trim();
    if (found) return found;
  }
  return process.getuid?.() === 0 ? installChromium() : undefined;
}

function installChromium(): string | undefined {
  if (spawnSync("apt-get", ["--version"]).status !== 0) return undefined;
  const lock = ["-o", "DPkg::Lock::Timeout=120"];
  spawnSync("apt-get", [...lock, "update"]);
  spawnSync("apt-get", [...lock, "install", "-y", "--no-install-recommends", "chromium"]);
  return spawnSync("which", ["chromium"], { encoding: "utf8" }).stdout?.trim() || undefined;
}

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
