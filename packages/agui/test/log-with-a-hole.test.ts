import type { RunContext } from "@holodeck/agui-core";
import { memorySessions } from "@holodeck/agui-sessions";
import { expect, onTestFinished, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import { deferred, eventsOf, memoryLogger, post, say } from "./_helpers.ts";
import { framesOf, readFrames } from "./_resume-client.ts";

/** Offsets that the log of the store lacks, although they were appended. */
const lost = { "the last entries": [3, 4, 5], "some in the middle": [3] };

test.for(Object.keys(lost) as (keyof typeof lost)[])(
  "a client that resumes where the log has lost %s receives replay-gone, and nothing after a hole",
  async (which) => {
    const store = memorySessions();
    const { read } = store.runs;
    store.runs.read = async (...args) =>
      (await read.apply(store.runs, args)).filter(({ to }) => !lost[which].includes(to));
    const gate = deferred();
    const agent = async (_: unknown, { emit }: RunContext): Promise<void> => {
      for (const value of [2, 3, 4, 5]) await emit.custom("mark", value);
      await gate.promise;
      await emit.custom("mark", 6);
    };
    const logger = memoryLogger();
    const handler = createAgentHandler(agent, { sessions: store, logger });
    onTestFinished(() => handler.close({ timeoutMs: 0 }));
    const body = { threadId: "t", runId: "r", messages: [{ id: "q", ...say("go") }] };
    const first = readFrames(framesOf(await handler.fetch(post(body))));
    await first.reach(5);

    const url = "http://test.local/agui/runs/r/events?offset=2";
    const resumed = eventsOf(await handler.fetch(new Request(url)));
    const joined = eventsOf(
      await handler.fetch(new Request("http://test.local/agui/runs/r/events")),
    );
    gate.resolve();
    expect(await resumed).toMatchObject([{ type: "RUN_ERROR", code: "replay-gone" }]);
    // One that joins needs nothing of the log, and the run goes on for those that follow it.
    expect((await joined).at(-1)).toMatchObject({ type: "RUN_FINISHED" });
    await first.done;
    expect(first.frames.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  },
);
