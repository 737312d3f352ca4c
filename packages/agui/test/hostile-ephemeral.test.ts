import type { Protocol, RunContext } from "@holodeck/agui-core";
import { aguiSseEncoder } from "@holodeck/agui-protocol";
import { expect, test } from "vitest";
import { agui, createAgentHandler } from "../src/index.ts";
import { deferred, eventsOf, memoryLogger, post, typesOf } from "./_helpers.ts";

const aside: Protocol = {
  name: "aside",
  history: "client",
  routes: (host) => [
    {
      method: "GET",
      path: "/aside",
      async handle(call) {
        const input = { threadId: "t", runId: "r", messages: [], tools: [], context: [] };
        const run = await host.start(call, { input: { ...input, state: {} }, ephemeral: true });
        return run.stream(aguiSseEncoder(), "start");
      },
    },
  ],
};

test("a run beside the thread, under the id of one in it, does not take its place", async () => {
  const began = deferred();
  let isFirst = true;
  const { fetch, runs } = createAgentHandler(
    async (_input, { signal }: RunContext) => {
      if (!isFirst) return;
      isFirst = false;
      began.resolve();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    },
    { logger: memoryLogger(), protocols: [agui(), aside] },
  );
  const first = await fetch(post({ threadId: "t", runId: "r", messages: [] }));
  await began.promise;
  const second = await fetch(new Request("http://test.local/aside"));
  expect(typesOf(await eventsOf(second)).at(-1)).toBe("RUN_FINISHED");
  expect(runs.list().map(({ runId }) => runId)).toEqual(["r"]);
  expect(await runs.stop("r")).toBe(true);
  expect(typesOf(await eventsOf(first)).at(-1)).toBe("RUN_FINISHED");
});
