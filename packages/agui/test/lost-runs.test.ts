import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, test } from "vitest";
import type { ExpectStatic, TestContext } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandler } from "../src/index.ts";
import { eventsOf, memoryLogger, post, say } from "./_helpers.ts";
import { openPlace, placeKinds } from "./_places.ts";
import { framesOf } from "./_resume-client.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

const leaseMs = 1_000;
const times = { leaseMs, runLogMs: 2_500 };
const key = { principal: "", threadId: "t" };
const timeout = 300_000;
const patience = { timeout: 120_000, interval: 50 };

type OnTestFinished = TestContext["onTestFinished"];

/** A process with a run that has said something and goes on. */
async function startOwner(kind: string, at: string, onTestFinished: OnTestFinished) {
  const script = fileURLToPath(new URL("_zombie-child.ts", import.meta.url));
  const flags = [...sourceFlags, script];
  const args = [kind, at, String(leaseMs), "/nowhere"];
  const child = spawn(process.execPath, [...flags, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [port] = await once(child.stdout, "data");
  const request = post(body("r1", "old question"));
  const { headers } = request;
  const url = `http://127.0.0.1:${Number(String(port))}/agui`;
  const response = await fetch(url, { method: "POST", headers, body: await request.text() });
  const frames = framesOf(response);
  for (;;) {
    const { value, done } = await frames.next();
    if (done) throw new Error("The run ended.");
    if (value.event.type === "CUSTOM") break;
  }
  return async (): Promise<void> => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    await frames.next().catch(() => undefined);
  };
}

const body = (runId: string, text: string): object => ({
  threadId: "t",
  runId,
  messages: [{ id: `q-${runId}`, ...say(text) }],
  protocolVersion: "1.0",
});

const get = (handler: AgentHandler, path: string): Promise<Response> =>
  handler.fetch(new Request(`http://test.local${path}`));

// Each resolves when it shows what the lost run had said.
const readers = {
  async "reads the thread"(handler: AgentHandler, expect: ExpectStatic): Promise<void> {
    const read = async (): Promise<string> =>
      (await get(handler, "/agui/threads/t/messages")).text();
    await expect.poll(read, patience).toContain("old answer of r1");
  },
  async "follows the run"(handler: AgentHandler, expect: ExpectStatic): Promise<void> {
    const events = await eventsOf(await get(handler, "/agui/runs/r1/events?offset=0"));
    expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "run-lost" });
  },
  async "connects to the thread"(handler: AgentHandler, expect: ExpectStatic): Promise<void> {
    const path = "/agui/agent/default/connect";
    const connect = async (): Promise<string> =>
      (await handler.fetch(post({ threadId: "t", runId: "c" }, { path }))).text();
    await expect.poll(connect, patience).toContain("old answer of r1");
    // The first one may have seen the log only, and waited for the end of it.
    await connect();
  },
};

describe.for(placeKinds)("a run on %s whose process was killed", (kind) => {
  // Each waits for a lease: side by side.
  test.concurrent.for([
    ...Object.keys(readers).map((reader) => [reader]),
    Object.keys(readers).flatMap((reader) => [reader, reader]),
  ] as (keyof typeof readers)[][])(
    "is in its thread, once, when another process %j",
    { timeout },
    async (names, { expect, onTestFinished, skip }) => {
      const place = await openPlace(kind, "lost runs");
      if (!place) return skip();
      onTestFinished(() => place.close());
      const stores = [await place.open(times), await place.open(times)];
      const kill = await startOwner(kind, place.at, onTestFinished);
      const logger = memoryLogger();
      const handlers = stores.map((sessions) => {
        const handler = createAgentHandler(async () => "new answer", {
          sessions,
          history: "server",
          logger,
        });
        onTestFinished(() => handler.close({ timeoutMs: 100 }));
        return handler;
      });
      await kill();
      await Promise.all(names.map((name, index) => readers[name](handlers[index % 2]!, expect)));

      const store = stores[0]!;
      const contents = async (): Promise<unknown[]> =>
        (await store.get(key))!.messages.map(({ content }) => content);
      expect(await contents()).toEqual(["old question", "old answer of r1"]);
      const session = await store.get(key);
      expect(session?.messages.at(-1)).toMatchObject({ metadata: { incomplete: true } });
      expect(session).toMatchObject({ lastRunId: "r1" });
      expect(session?.active).toBeUndefined();
      const said = "An interrupted run was recovered.";
      expect(logger.records.filter(({ message }) => message === said)).toHaveLength(1);

      // The log of the lost run is removed, and the thread keeps what it said.
      await expect.poll(() => store.runs.find("", "r1"), patience).toBeUndefined();
      const response = await handlers[1]!.fetch(post(body("r2", "new question")));
      expect((await eventsOf(response)).at(-1)).toMatchObject({ type: "RUN_FINISHED" });
      expect(await contents()).toEqual([
        "old question",
        "old answer of r1",
        "new question",
        "new answer",
      ]);
    },
  );
});
