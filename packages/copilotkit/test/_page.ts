import { toNodeHandler } from "@holodeck/agui-node";
import type { AgentHandler } from "@holodeck/agui";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, extname, join } from "node:path";
import { chromium } from "playwright-core";
import type { Browser } from "playwright-core";
import { chromiumFlags, findService } from "../../../scripts/test-support/services.ts";

/** A browser and the folder of the built page. */
export interface BrowserAndPage {
  readonly browser: Browser;
  readonly page: string;
}

/** Returns undefined when the browser or the page is missing; the caller skips. Throws with `CI=true`. */
export async function openBrowser(suite: string): Promise<BrowserAndPage | undefined> {
  const executablePath = findService("chromium", suite);
  const page = findService("copilotkitPage", suite);
  if (executablePath === undefined || page === undefined) return undefined;
  return { page, browser: await chromium.launch({ executablePath, args: [...chromiumFlags] }) };
}

/** Serves the page and, beside it, a handler, on one free port. */
export async function servePage(
  handler: AgentHandler,
  folder: string,
): Promise<{ url: string; close: () => Promise<void> }> {
  const agents = toNodeHandler(handler);
  const server = createServer((req, res) => {
    const { pathname } = new URL(req.url ?? "/", "http://localhost");
    if (pathname.startsWith("/agui")) return agents(req, res);
    if (pathname === "/") {
      res.setHeader("content-type", "text/html; charset=utf-8");
      return res.end(html);
    }
    const file = join(folder, basename(pathname));
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
