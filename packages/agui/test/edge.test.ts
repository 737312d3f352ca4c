import { beforeAll, describe, expect, test } from "vitest";
import type * as agui from "../src/index.ts";
import { loadOnTheEdge } from "./_edge.ts";
import { deferred, eventsOf, post, typesOf } from "./_helpers.ts";

// Bundling takes a second or two on a busy machine.
describe("without Node", () => {
  let library: typeof agui;
  let look: (expression: string) => unknown;
  const silent = { debug() {}, info() {}, warn() {}, error() {} };

  beforeAll(async () => {
    const loaded = await loadOnTheEdge();
    ({ library, look } = loaded);
    expect(loaded.warnings).toEqual([]);
  });

  test("there is nothing of Node in reach", () => {
    for (const name of ["process", "Buffer", "require", "setImmediate", "global", "module"]) {
      expect(look(`typeof ${name}`), name).toBe("undefined");
    }
    expect(look("typeof ReadableStream")).toBe("function");
  });

  test("a run is served over SSE", async () => {
    const { fetch } = library.createAgentHandler(
      async function* () {
        yield "Hello ";
        yield "edge";
      },
      { logger: silent },
    );
    const response = await fetch(post({ protocolVersion: "1.0", messages: [] }));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = await eventsOf(response);
    expect(typesOf(events)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
  });

  test("the loop turns while an agent only yields", async () => {
    const { fetch, runs } = library.createAgentHandler(
      async function* () {
        for (;;) yield "";
      },
      { logger: silent },
    );
    const response = await fetch(post({ runId: "r", protocolVersion: "1.0", messages: [] }));
    await new Promise(setImmediate);
    expect(await runs.stop("r")).toBe(true);
    expect((await eventsOf(response)).at(-1)).toMatchObject({ outcome: { type: "cancelled" } });
  });

  test("a run is served over protobuf, state and all", async () => {
    const { fetch } = library.createAgentHandler(
      async (_input, { state }) => {
        await state.set({ n: 0 });
        await state.update<{ n: number }>((draft) => {
          draft.n++;
        });
      },
      { logger: silent },
    );
    const accept = "application/vnd.ag-ui.event+proto";
    const response = await fetch(
      post({ protocolVersion: "1.0", messages: [] }, { headers: { accept } }),
    );
    expect(response.headers.get("content-type")).toBe(accept);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(20);
  });

  test("a bad request is refused with all its faults", async () => {
    const { fetch } = library.createAgentHandler(async () => {}, { logger: silent });
    const response = await fetch(post({ messages: 7, tools: [{ name: 3 }] }));
    expect(response.status).toBe(400);
    const problem = (await response.json()) as { code: string; errors: unknown[] };
    expect(problem.code).toBe("invalid-request");
    expect(problem.errors.length).toBeGreaterThan(1);
    expect((await fetch(post("{"))).status).toBe(400);
  });

  test("a client that leaves reaches the agent's signal", async () => {
    const aborted = deferred<unknown>();
    const { fetch } = library.createAgentHandler(
      async (_input, { emit, signal }) => {
        await emit.text("hello?");
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve());
        });
        aborted.resolve(signal.reason);
      },
      { logger: silent },
    );
    const response = await fetch(post({ messages: [] }));
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    expect(await aborted.promise).toMatchObject({ code: "disconnected" });
  });

  test("the platform is asked to wait for the run", async () => {
    const finish = deferred();
    const waiting: Promise<unknown>[] = [];
    const worker = {
      waitUntil(work: Promise<unknown>) {
        // A worker refuses the call on anything but its own context.
        expect(this).toBe(worker);
        waiting.push(work);
      },
      passThroughOnException() {},
    };
    const { fetch } = library.createAgentHandler(
      async (_input, { emit }) => {
        await emit.text("half");
        await finish.promise;
      },
      { logger: silent, onDisconnect: "continue" },
    );
    const response = await fetch(post({ messages: [] }), { KV: {} }, worker);
    expect(waiting).toHaveLength(1);
    await response.body!.cancel();
    let isDone = false;
    const done = waiting[0]!.then(() => (isDone = true));
    await new Promise(setImmediate);
    expect(isDone).toBe(false);
    finish.resolve();
    await done;
  });
});

test("an environment that may not be read is none, as on Deno without --allow-env", async () => {
  const refuse = (): never => {
    throw new Error('Requires env access to "NODE_ENV".');
  };
  const process = { env: new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse }) };
  const { library } = await loadOnTheEdge({ process });
  const { fetch } = library.createAgentHandler(async () => "Hello");
  const events = await eventsOf(await fetch(post({ messages: [] })));
  expect(typesOf(events)).toContain("RUN_FINISHED");
});
