import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { build } from "vite";
import type { RecordedExchange, RecordedFrame } from "../page/model.ts";

/** Where the pictures that the tests take are kept. */
export const pictures: string = fileURLToPath(
  new URL("../node_modules/.cache/inspector-pictures/", import.meta.url),
);

export interface InspectorPage {
  readonly url: string;
  /** What the server answers for the repairs of a run; 404 for others. */
  readonly repairs: Map<string, unknown>;
  /** How often somebody asked for them. */
  readonly asked: () => number;
  close(): Promise<void>;
}

/** Builds the inspector alone, and serves it as strictly as the whole page is served. */
export async function serveInspector(): Promise<InspectorPage> {
  const outDir = mkdtempSync(join(tmpdir(), "inspector-page-"));
  mkdirSync(pictures, { recursive: true });
  await build({
    root: fileURLToPath(new URL("./inspector-page/", import.meta.url)),
    configFile: fileURLToPath(new URL("../page/vite.config.ts", import.meta.url)),
    logLevel: "error",
    build: { outDir, emptyOutDir: true },
  });
  const repairs = new Map<string, unknown>();
  let asked = 0;
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const runId = /^\/_holodeck\/runs\/([^/]+)\/repairs$/.exec(pathname)?.[1];
    if (runId !== undefined) asked += 1;
    const answer = runId === undefined ? undefined : repairs.get(decodeURIComponent(runId));
    if (answer !== undefined) return response.end(JSON.stringify(answer));
    const file = join(outDir, pathname === "/" ? "index.html" : pathname);
    if (!existsSync(file)) return response.writeHead(404).end();
    response.setHeader("content-type", types[extname(file)] ?? "application/octet-stream");
    response.setHeader("content-security-policy", policy);
    response.end(readFileSync(file));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    repairs,
    asked: () => asked,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
      rmSync(outDir, { recursive: true, force: true });
    },
  };
}

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
};
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'";

/** Begins an exchange in the page. */
export function begin(
  page: Page,
  over: Partial<Record<keyof RecordedExchange, unknown>> = {},
): Promise<void> {
  const input = {
    threadId: "thread-1",
    runId: "run-1",
    messages: [{ id: "q", role: "user", content: "Plan a trip to Rome" }],
    tools: [],
    context: [],
    state: { plan: { title: "Nothing yet", steps: [] } },
    forwardedProps: {},
  };
  const request = {
    method: "POST",
    url: "http://127.0.0.1:8000/agui",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify(input),
  };
  const agentId = "default";
  const exchange = {
    wire: "agui-sse",
    agentId,
    threadId: "thread-1",
    runId: "run-1",
    input,
    request,
  };
  return page.evaluate((given) => (globalThis as any).inspector.begin(given), {
    ...exchange,
    ...over,
  });
}

/** Frames that come to the newest exchange. */
export function push(page: Page, frames: readonly RecordedFrame[]): Promise<void> {
  // As text: Playwright takes its time with thousands of objects.
  const plain = frames.map((frame) => ({
    ...frame,
    bytes: Buffer.from(frame.bytes).toString("base64"),
  }));
  return page.evaluate((given) => (globalThis as any).inspector.push(given), JSON.stringify(plain));
}

/** The end of the newest exchange. */
export function end(page: Page, status: string, error?: string): Promise<void> {
  return page.evaluate(
    ([how, why]) => (globalThis as any).inspector.end(how, why),
    [status, error],
  );
}
