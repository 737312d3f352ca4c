import { createAgentHandler } from "@holodeck/agui";
import { describe, expect, test, vi } from "vitest";
import { deferred, memoryLogger, post, say } from "./_helpers.ts";

describe("closing a handler", () => {
  test("keeps the process alive until it is closed", async () => {
    const aborted = deferred<unknown>();
    const handler = createAgentHandler(
      async function* (_input, { signal }) {
        signal.addEventListener("abort", () => aborted.resolve(signal.reason));
        yield "…";
        await aborted.promise;
      },
      { onDisconnect: "continue" },
    );
    const response = await handler.fetch(post({ messages: [say("hi")] }));
    await response.body?.cancel();

    // Nobody is connected any more: nothing but the closing itself holds the process.
    const released = vi.spyOn(globalThis, "clearInterval");
    const before = heldTimers();
    const closing = handler.close({ timeoutMs: 50 });
    expect(heldTimers()).toBe(before + 1);
    await closing;
    expect(released).toHaveBeenCalledOnce();
    released.mockRestore();
    expect(await aborted.promise).toMatchObject({ code: "shutting-down" });
  });

  test("ends the connection with every reply, on each route and on none", async () => {
    const handler = createAgentHandler(async () => "hello", { logger: memoryLogger() });
    const { paths } = (await handler.openapi()) as { paths: Record<string, object> };
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
    );
    expect(routes.length).toBeGreaterThan(20);
    const others = [
      ["GET", "/none"],
      ["PUT", "/agui"],
      ["OPTIONS", "/agui"],
      ["GET", "/%"],
    ] as const;
    const ask = async (method: string, path: string): Promise<[string, string | null]> => {
      const url = `http://test.local${path.replaceAll(/\{\w+\}/g, "default")}`;
      const headers = { "content-type": "application/json" };
      const body = ["GET", "HEAD", "OPTIONS"].includes(method) ? null : "{}";
      const response = await handler.fetch(new Request(url, { method, headers, body }));
      await response.text();
      return [`${method} ${path}`, response.headers.get("connection")];
    };
    const all = [...routes, ...others];
    for (const [method, path] of all) expect((await ask(method, path))[1]).toBeNull();
    await handler.close();
    const kept = await Promise.all(all.map(([method, path]) => ask(method, path)));
    expect(kept.filter(([, connection]) => connection !== "close")).toEqual([]);
  });

  test("ends the connection of a client that waited for its result", async () => {
    const [begun, gate] = [deferred(), deferred()];
    const handler = createAgentHandler(
      async () => {
        begun.resolve();
        await gate.promise;
        return "hello";
      },
      { logger: memoryLogger() },
    );
    const path = "/agent/default/chat";
    const waiting = handler.fetch(post({ message: "hi" }, { path }));
    await begun.promise;
    const closing = handler.close({ timeoutMs: 60_000 });
    gate.resolve();
    const response = await waiting;
    expect([response.status, response.headers.get("connection")]).toEqual([200, "close"]);
    await response.text();
    await closing;
  });
});

// Timers that would keep Node running; those of the handler's clock do not.
function heldTimers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
}
