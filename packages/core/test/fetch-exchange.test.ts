import { describe, expect, test, vi } from "vitest";
import { AgentError, createFetchExchange, toFetch, toProblem } from "../src/index.ts";
import { answerFetch, findWaitUntil, stripMount } from "../src/internal.ts";
import type { Exchange, Sink } from "../src/index.ts";

const url = "http://a.test/agui?x=1#y";

/** A response that is open, and its sink. */
async function streaming(init?: RequestInit): Promise<{ response: Response; sink: Sink }> {
  const made = createFetchExchange(new Request(url, init));
  const sink = made.exchange.reply(200, {});
  return { response: await made.response, sink };
}

async function readAll(exchange: Exchange): Promise<boolean> {
  for await (const part of exchange.body()) void part;
  return true;
}

describe("a streamed response", () => {
  test("reports a reader that cancels, once", async () => {
    const { response, sink } = await streaming();
    const onClose = vi.fn();
    sink.onClose = onClose;
    sink.write("x");
    await response.body?.cancel();
    expect(onClose).toHaveBeenCalledOnce();
    expect(sink.write("y")).toBe(false);
    expect(sink.pending).toBe(0);
  });

  test("breaks off when the request is aborted", async () => {
    const leaving = new AbortController();
    const { response, sink } = await streaming({ signal: leaving.signal });
    const onClose = vi.fn();
    sink.onClose = onClose;
    const text = response.text();
    leaving.abort(new Error("gone"));
    await expect(text).rejects.toThrow("gone");
    expect(onClose).toHaveBeenCalledOnce();
  });

  test("has an empty body for a client that has left before it", async () => {
    const { response, sink } = await streaming({ signal: AbortSignal.abort() });
    const onClose = vi.fn();
    sink.onClose = onClose;
    expect(sink.write("late")).toBe(false);
    expect(await response.text()).toBe("");
    expect(onClose).toHaveBeenCalledOnce();
  });

  test("is not broken off by an abort after its end", async () => {
    const leaving = new AbortController();
    const { response, sink } = await streaming({ signal: leaving.signal });
    sink.write("all");
    sink.end();
    expect(await response.text()).toBe("all");
    leaving.abort();
    expect(sink.pending).toBe(0);
  });

  test("counts bytes, not characters, and reports when there is room again", async () => {
    const { response, sink } = await streaming();
    const onDrain = vi.fn();
    sink.onDrain = onDrain;
    expect(sink.write("€".repeat(1000))).toBe(true);
    expect(sink.pending).toBe(3000);
    expect(sink.write(new Uint8Array(64 * 1024))).toBe(false);
    expect(sink.pending).toBe(3000 + 64 * 1024);
    expect(onDrain).not.toHaveBeenCalled();
    const reader = response.body?.getReader();
    await reader?.read();
    expect(onDrain).not.toHaveBeenCalled();
    await reader?.read();
    await expect.poll(() => onDrain.mock.calls).toHaveLength(1);
    expect(sink.pending).toBe(0);
  });

  test("counts what is left after the end", async () => {
    const { response, sink } = await streaming();
    sink.write(new Uint8Array(64 * 1024));
    sink.end();
    expect(sink.pending).toBe(64 * 1024);
    await response.arrayBuffer();
    expect(sink.pending).toBe(0);
  });
});

describe("toFetch", () => {
  const nothing = toFetch(async () => false);

  test("answers 404 with a problem where no route is ours", async () => {
    const response = await nothing(new Request(url));
    expect([response.status, response.headers.get("content-type")]).toEqual([
      404,
      "application/problem+json",
    ]);
    expect(await response.json()).toMatchObject({ code: "not-found", instance: "/agui" });
  });

  test("answers HEAD with 404 and no body", async () => {
    const response = await nothing(new Request(url, { method: "HEAD" }));
    expect([response.status, response.body]).toEqual([404, null]);
  });

  test.for<[string, () => Promise<boolean>]>([
    ["rejects", () => Promise.reject(new Error("boom"))],
    [
      "throws at once",
      () => {
        throw new Error("boom");
      },
    ],
  ])("shows a handler that %s to the host, not to the client", async ([, handle]) => {
    const onError = vi.fn();
    const response = await toFetch(handle, { onError })(new Request(url));
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("boom");
    expect(onError).toHaveBeenCalledExactlyOnceWith(new Error("boom"));
  });

  test.for([1, 2, 3])("finds waitUntil as argument %i", async (position) => {
    const work = Promise.resolve();
    const context = {
      held: [] as unknown[],
      waitUntil(given: unknown) {
        this.held.push(given);
      },
    };
    const platform: unknown[] = [undefined, null, "env"].slice(0, position - 1);
    const fetch = toFetch(async (exchange) => {
      exchange.waitUntil?.(work);
      return false;
    });
    await fetch(new Request(url), ...platform, context);
    expect(context.held).toEqual([work]);
  });

  test("has no waitUntil where the platform has none", () => {
    expect(findWaitUntil([{ params: {} }, undefined])).toBeUndefined();
  });
});

describe("an exchange", () => {
  test("refuses a body that was read before", async () => {
    const request = new Request(url, { method: "POST", body: "x" });
    await request.text();
    await expect(answerFetch(readAll, createFetchExchange(request))).rejects.toThrow(
      "was already read",
    );
  });

  test("is answered once", () => {
    const { exchange } = createFetchExchange(new Request(url));
    exchange.reply(200, {});
    expect(() => exchange.reply(200, {})).toThrow("called twice");
  });
});

describe("stripMount", () => {
  test.for([
    ["/api/agui", "/api", "/agui"],
    ["/api/agui", "/api/*", "/agui"],
    ["/a/b/c", "/:x/b/", "/c"],
    ["/api", "/api", "/"],
    ["/api/", "/api", "/"],
    ["/agui", "", "/agui"],
    ["/agui", "*", "/agui"],
    ["/agui", "/*", "/agui"],
    ["/x", "/longer/than/that", "/"],
  ] as const)("makes of %s under %s the path %s", ([path, mount, expected]) => {
    expect(stripMount(path, mount)).toBe(expected);
  });
});

describe("toProblem", () => {
  test("contains everything an error of ours knows", () => {
    const error = new AgentError("rate-limited", "Slow down.", {
      retryAfter: 60,
      headers: { "x-limit": "1" },
      errors: [{ path: "a", message: "b" }],
    });
    const { status, headers, body } = toProblem(error, { instance: "/agui", requestId: "r" });
    expect(status).toBe(429);
    expect(headers).toMatchObject({ "retry-after": "60", "x-limit": "1" });
    expect(JSON.parse(body)).toEqual({
      type: "https://holodeck.dev/errors/rate-limited",
      title: "Rate Limited",
      status: 429,
      detail: "Slow down.",
      message: "Slow down.",
      instance: "/agui",
      code: "rate-limited",
      requestId: "r",
      errors: [{ path: "a", message: "b" }],
    });
  });

  test("contains nothing of other errors", () => {
    const { status, body } = toProblem(new Error("postgres://user:pw@db"));
    expect(status).toBe(500);
    expect(body).not.toContain("postgres");
  });
});
