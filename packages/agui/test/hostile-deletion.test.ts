import { memorySessions } from "@holodeck/agui-sessions";
import type { Protocol, RunContext } from "@holodeck/agui-core";
import { aguiSseEncoder } from "@holodeck/agui-protocol";
import { expect, test } from "vitest";
import { agui, createAgentHandler } from "../src/index.ts";
import { deferred, eventsOf, memoryLogger, post, typesOf } from "./_helpers.ts";

const untilAborted = ({ signal }: RunContext): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve()));

const rejoin: Protocol = {
  name: "rejoin",
  history: "client",
  routes: (host) => [
    {
      method: "GET",
      path: "/runs/:id",
      async handle(call) {
        const run = await host.attach(call, { runId: call.params.id! });
        return run!.stream(aguiSseEncoder({ protocolVersion: "1.0" }), "start");
      },
    },
  ],
};

test.for(["delete", "close"] as const)(
  "a run whose thread goes (%s) ends for its agent, its clients and those of another handler",
  async (way) => {
    const sessions = memorySessions();
    const logger = memoryLogger();
    const began = deferred();
    const reason = deferred<unknown>();
    const owner = createAgentHandler(
      async (_input, context) => {
        void context.emit.text("a");
        began.resolve();
        await untilAborted(context);
        reason.resolve((context.signal.reason as { code: unknown }).code);
      },
      { sessions, logger },
    );
    const other = createAgentHandler(() => [], { sessions, logger, protocols: [agui(), rejoin] });
    const first = await owner.fetch(post({ threadId: "t", runId: "r", messages: [] }));
    await began.promise;
    const second = await other.fetch(new Request("http://test.local/runs/r"));
    const both = Promise.all([eventsOf(first), eventsOf(second)]);
    if (way === "delete") await sessions.delete({ principal: "", threadId: "t" });
    else await sessions.close();
    const [mine, theirs] = await both;
    expect(await reason.promise).toBe("run-lost");
    expect(mine.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "run-lost" });
    expect(theirs.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "run-lost" });
    expect(typesOf(theirs).slice(0, 3)).toEqual(typesOf(mine).slice(0, 3));
  },
);
