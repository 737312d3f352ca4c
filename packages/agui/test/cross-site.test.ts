import type { Json, SessionStore } from "@holodeck/agui-core";
import { cors } from "@holodeck/agui-middleware";
import { memorySessions } from "@holodeck/agui-sessions";
import { describe, expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandler, AgentHandlerOptions } from "../src/index.ts";
import { deferred, memoryLogger, post } from "./_helpers.ts";
import { operationsOf } from "./_operations.ts";

const threadId = "0b3c8a52-6f5e-4c1d-9a55-3a1a7b0d9a11";
const user = { id: "u", role: "user", content: "hi" };
const input = { threadId: "other", runId: "r2", messages: [user] };
const ui = { id: "c", messages: [{ ...user, parts: [{ type: "text", text: "hi" }] }] };

/** Every operation that changes something, with the body of a real request. Undefined: it has none. */
const operations: Readonly<Record<string, Json | undefined>> = {
  "POST /agui": input,
  "POST /agui/runs/{runId}/stop": undefined,
  "POST /agui/agent/{agentId}/run": input,
  "POST /agui/agent/{agentId}/connect": { threadId },
  "POST /agui/agent/{agentId}/suggest": input,
  "POST /agui/agent/{agentId}/stop/{threadId}": undefined,
  "PATCH /agui/threads/{threadId}": { name: "new", agentId: "default" },
  "DELETE /agui/threads/{threadId}": undefined,
  "POST /agui/threads/{threadId}/archive": { agentId: "default" },
  "POST /api/chat": ui,
  "POST /api/chat/{id}/stop": undefined,
  "POST /chat": ui,
  "POST /chat/{id}/stop": undefined,
  "POST /agent/{name}/chat": { message: "hi" },
  "POST /agent/{name}/chat/stream": { message: "hi" },
  "DELETE /sessions/{id}": undefined,
  "DELETE /threads/{id}": undefined,
  "POST /threads/{id}/abort": undefined,
  "POST /tool_result": { execution_id: "r-1", execution_time_ms: 1, result: 1 },
};

const urlOf = (path: string): string => {
  const id = path.startsWith("/sessions") ? "01J9Z3N5W8Q4T6Y2R7V1X0KBCD" : threadId;
  const filled = path
    .replaceAll(/\{(agentId|name)\}/g, "default")
    .replace("{runId}", "live")
    .replaceAll(/\{\w+\}/g, id);
  return `http://test.local${filled}`;
};

interface Site {
  readonly handler: AgentHandler;
  readonly store: SessionStore;
  /** How often an agent was called, and a run aborted. */
  readonly seen: { calls: number; aborted: number };
}

/** A handler with a run on a thread that goes on until it is stopped. */
async function site(options: AgentHandlerOptions = {}): Promise<Site> {
  const seen = { calls: 0, aborted: 0 };
  const store = memorySessions();
  const began = deferred();
  const handler = createAgentHandler(
    async ({ runId }, { signal }) => {
      seen.calls++;
      if (runId !== "live") return "ok";
      began.resolve();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      seen.aborted++;
      return "stopped";
    },
    { logger: memoryLogger(), sessions: store, onDisconnect: "continue", ...options },
  );
  await handler.fetch(post({ threadId, runId: "live", messages: [user] }));
  await began.promise;
  return { handler, store, seen };
}

/** What a page of another site can make a browser send without asking. */
const pages: Readonly<Record<string, Record<string, string>>> = {
  "fetch without CORS": {
    origin: "http://evil.test",
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "no-cors",
    cookie: "session=1",
  },
  "a form": { origin: "null", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
  "a page of another subdomain": { origin: "http://a.test.local", "sec-fetch-site": "same-site" },
  "an older browser": { origin: "http://evil.test" },
  "a frame of an older browser": { origin: "null", authorization: "Basic YTpi" },
};
const types = [
  undefined,
  "",
  "text/plain",
  "text/plain; application/json",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=b",
];

const bodyOf = (body: Json | undefined, type: string | undefined): string | undefined => {
  if (type === "") return undefined;
  if (!type?.startsWith("multipart")) return body && JSON.stringify(body);
  const fields = Object.entries(body ?? { a: 1 }).map(
    ([name, value]) =>
      `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${String(value)}\r\n`,
  );
  return `${fields.join("")}--b--\r\n`;
};

describe("a page of another site", () => {
  test("has a line here for every operation that changes something", async () => {
    const { openapi } = createAgentHandler(async () => "ok", { logger: memoryLogger() });
    const changing = operationsOf(await openapi()).filter((one) => !one.startsWith("GET "));
    expect(changing.sort()).toEqual(Object.keys(operations).sort());
  });

  test.for(Object.entries(pages))("changes nothing by %s", async ([, headers]) => {
    const { handler, store, seen } = await site();
    const before = await store.get({ principal: "", threadId });
    for (const [operation, body] of Object.entries(operations)) {
      const [method = "", path = ""] = operation.split(" ");
      for (const type of types) {
        const sent = bodyOf(body, type);
        const response = await handler.fetch(
          new Request(urlOf(path), {
            method,
            headers: type ? { ...headers, "content-type": type } : headers,
            ...(sent !== undefined && { body: new TextEncoder().encode(sent) }),
          }),
        );
        await response.text();
        const status = expect.toSatisfy((one: number) => [400, 403, 415].includes(one));
        expect({ operation, type, status: response.status }).toEqual({ operation, type, status });
      }
    }
    expect(seen).toEqual({ calls: 1, aborted: 0 });
    expect(await store.count!()).toBe(1);
    expect((await store.get({ principal: "", threadId }))!.version).toBe(before!.version);
    await handler.close({ timeoutMs: 0 });
  });
});

const clients: Readonly<
  Record<string, { headers: Record<string, string>; options?: AgentHandlerOptions }>
> = {
  "a client that is no browser": { headers: {} },
  "a page of its own": {
    headers: { origin: "http://test.local", "sec-fetch-site": "same-origin" },
  },
  "a page of its own in an older browser": {
    headers: { origin: "http://test.local", host: "test.local" },
  },
  "a page of its own behind a proxy": {
    headers: {
      origin: "https://app.test",
      host: "10.0.0.1:8000",
      "x-forwarded-host": "app.test",
    },
  },
  "a page with a header that browsers ask for": {
    headers: {
      origin: "http://app.test",
      "sec-fetch-site": "cross-site",
      "x-requested-with": "app",
    },
  },
  "a page with a bearer token": {
    headers: { origin: "http://app.test", authorization: "Bearer abc" },
  },
  "a page of an origin that cors() lists": {
    headers: { origin: "http://app.test", "sec-fetch-site": "cross-site", cookie: "session=1" },
    options: { middleware: [cors({ origins: ["http://app.test"], credentials: true })] },
  },
  "any page without a cookie where cors() allows all": {
    headers: { origin: "http://app.test", "sec-fetch-site": "cross-site" },
    options: { middleware: [cors({ origins: "*" })] },
  },
};

describe.for(Object.entries(clients))("%s", ([, { headers, options }]) => {
  test.for(Object.entries(operations))("may %s", async ([operation, body]) => {
    const { handler } = await site(options);
    const [method = "", path = ""] = operation.split(" ");
    const response = await handler.fetch(
      new Request(urlOf(path), {
        method,
        headers: body ? { ...headers, "content-type": "application/json" } : headers,
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
    await response.body?.cancel();
    expect(response.status).not.toBe(403);
    expect(response.status).not.toBe(415);
    await handler.close({ timeoutMs: 0 });
  });
});

describe("where cors() allows all origins", () => {
  const options = { middleware: [cors({ origins: "*" })] };

  test.for(["cookie", "authorization"])("none acts by the %s of its visitor", async (name) => {
    const { handler, seen } = await site(options);
    const headers = {
      origin: "http://evil.test",
      [name]: name === "cookie" ? "session=1" : "Basic YTpi",
    };
    const response = await handler.fetch(
      new Request(urlOf("/agui/runs/live/stop"), { method: "POST", headers }),
    );
    expect(response.status).toBe(403);
    expect(seen.aborted).toBe(0);
    await handler.close({ timeoutMs: 0 });
  });

  test("another origin than those that are listed may not stop a run", async () => {
    const { handler, seen } = await site({
      middleware: [cors({ origins: ["http://app.test"], credentials: true })],
    });
    const headers = { origin: "http://evil.test", cookie: "session=1" };
    const response = await handler.fetch(
      new Request(urlOf("/agui/runs/live/stop"), { method: "POST", headers }),
    );
    expect(response.status).toBe(403);
    expect(await response.text()).toContain("X-Requested-With");
    expect(seen.aborted).toBe(0);
    await handler.close({ timeoutMs: 0 });
  });
});
