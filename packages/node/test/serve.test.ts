import type { Sink } from "@holodeck/agui-core";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";
import { serve } from "../src/index.ts";
import type { ServeOptions, Serving } from "../src/index.ts";
import { handlerOf, replyJson } from "./_handler.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

const opened: Serving[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

const hello = (): ReturnType<typeof handlerOf> =>
  handlerOf((exchange) => replyJson(exchange, "hi"));

async function start(handler = hello(), options: ServeOptions = {}): Promise<Serving> {
  const serving = await serve(handler, { port: 0, signals: false, ...options });
  opened.push(serving);
  return serving;
}

describe("listening", () => {
  test("starts the handler and prints where it is", async () => {
    const handler = hello();
    const { url, port, server } = await start(handler);
    expect(handler.calls).toEqual(["start"]);
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect(await (await fetch(url)).json()).toBe("hi");
    expect([server.headersTimeout, server.requestTimeout]).toEqual([10_000, 60_000]);
  });

  test.for([-1, 65_536, 1.5, Number.NaN])("refuses port %d with the range", async (port) => {
    await expect(serve(hello(), { port })).rejects.toThrow(/The port is .*from 0 to 65535/);
  });

  test.for<[unknown, string]>([
    [{ port: "3000" }, 'The port is the string "3000"; it must be an integer'],
    [3000, "The options of serve must be an object, not 3000."],
    [{ prot: 3000 }, "prot is not an option of serve. Did you mean port?"],
  ])("refuses %j as options", async ([options, words]) => {
    await expect(serve(hello(), options as never)).rejects.toThrow(words);
  });

  test("refuses an agent instead of a handler", async () => {
    await expect(serve((async () => "Hello") as never)).rejects.toThrow(
      "Try serve(createAgentHandler(agent)).",
    );
  });

  test("names a port that is taken and proposes the next", async () => {
    const { port } = await start();
    await expect(start(hello(), { port })).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is in use. Try the next one: serve(handler, { port: ${port + 1} }).`,
    );
  });

  test("warns when the whole network can reach it", async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const { url, port } = await start(hello(), { host: "0.0.0.0", logger });
    expect(logger.warn).toHaveBeenCalledOnce();
    expect(url).toBe(`http://localhost:${port}`);
    await start(hello(), { logger });
    expect(logger.warn).toHaveBeenCalledOnce();
  });

  test("frees the port when the handler cannot start", async () => {
    const { port } = await start();
    await opened.pop()?.close();
    const broken = { ...hello(), start: () => Promise.reject(new Error("no model")) };
    await expect(serve(broken, { port, signals: false })).rejects.toThrow("no model");
    await start(hello(), { port });
  });

  test("logs what the handler threw", async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const boom = new Error("boom");
    const failing = handlerOf(() => Promise.reject(boom));
    const { url } = await start(failing, { logger });
    await fetch(url);
    expect(logger.error).toHaveBeenCalledExactlyOnceWith({ err: boom }, expect.any(String));
  });
});

describe("closing", () => {
  test("answers on, lets the handler end its streams, and delivers their last words", async () => {
    let sink: Sink | undefined;
    let isClosed = false;
    const handler = handlerOf((exchange) => {
      if (isClosed) return replyJson(exchange, "closing", 503);
      sink = exchange.reply(200, { "content-type": "text/event-stream" });
      sink.write("first ");
      return undefined;
    });
    let meanwhile: Response | undefined;
    handler.close = async (options) => {
      handler.calls.push(`close ${options?.timeoutMs}`);
      isClosed = true;
      meanwhile = await fetch(url);
      sink?.write("last");
      sink?.end();
    };
    const { url, close } = await start(handler);
    const response = await fetch(url);
    const text = response.text();
    await Promise.all([close(), close()]);
    expect(await text).toBe("first last");
    expect(meanwhile?.status).toBe(503);
    expect(meanwhile?.headers.get("connection")).toBe("close");
    await expect(fetch(url)).rejects.toThrow("fetch failed");
    expect(handler.calls).toEqual(["start", "close 30000"]);
  });

  test.for([
    [{}, {}, "close 30000"],
    [{ drainMs: 7_000 }, {}, "close 7000"],
    [{ drainMs: 7_000 }, { drainMs: 3_000 }, "close 3000"],
    [{}, { drainMs: 0 }, "close 250"],
    [{ drainMs: Number.POSITIVE_INFINITY }, {}, `close ${2 ** 31 - 1_001}`],
  ] as const)("gives runs the time of %j and %j", async ([options, given, call]) => {
    const handler = hello();
    const { close } = await start(handler, options);
    await close(given);
    expect(handler.calls).toEqual(["start", call]);
  });

  test.for(["drainMs", "noticeMs"])("refuses a %s that is no time", async (name) => {
    await expect(serve(hello(), { [name]: -1 })).rejects.toThrow(
      `${name} is -1; it must be a number of milliseconds`,
    );
    await expect(serve(hello(), { [name]: "5" as never })).rejects.toThrow('is the string "5"');
  });

  test("does not wait for a handler that never closes", async () => {
    const handler = hello();
    handler.close = () => new Promise(() => undefined);
    const { url, close } = await start(handler, { drainMs: 0 });
    await close();
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  test("cuts a client that keeps a stream open after the handler has closed", async () => {
    const handler = handlerOf((exchange) => {
      exchange.reply(200, { "content-type": "text/event-stream" }).write("for ever");
    });
    const { url, close } = await start(handler);
    const response = await fetch(url);
    await close();
    await expect(response.text()).rejects.toThrow();
  });
});

function listeners(): number {
  return process.listenerCount("SIGINT") + process.listenerCount("SIGTERM");
}

async function child(...args: string[]): Promise<ReturnType<typeof spawn>> {
  const script = fileURLToPath(new URL("./_serve-child.ts", import.meta.url));
  const process_ = spawn(process.execPath, [...sourceFlags, script, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(process_.stdout, "data");
  return process_;
}

describe("signals", () => {
  test("are handled by default, until it is closed", async () => {
    const before = listeners();
    const { close } = await serve(hello(), { port: 0 });
    expect(listeners()).toBe(before + 2);
    await close();
    expect(listeners()).toBe(before);
  });

  test("are left alone when the option is off", async () => {
    const before = listeners();
    await start();
    expect(listeners()).toBe(before);
  });

  test.for(["SIGINT", "SIGTERM"] as const)("%s ends the process in good order", async (signal) => {
    const process_ = await child("prompt");
    process_.kill(signal);
    expect(await once(process_, "exit")).toEqual([0, null]);
  });

  test("end it at once with code 130 when sent twice", async () => {
    const process_ = await child("hanging");
    process_.kill("SIGINT");
    // It says so when it has begun to close.
    await once(process_.stdout!, "data");
    process_.kill("SIGINT");
    expect(await once(process_, "exit")).toEqual([130, null]);
  });
});
