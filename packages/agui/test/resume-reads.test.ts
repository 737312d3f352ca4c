import type { AgentEvent, RunLog, SessionStore } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { afterEach, describe, expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import { deferred, memoryLogger, post, say } from "./_helpers.ts";
import { framesOf } from "./_resume-client.ts";
import { storeKinds } from "./_shared-stores.ts";

// RUN_STARTED, then as many as there are until here.
const last = 12_000;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A view of a store that counts how often a log is read. */
function counting(store: SessionStore): { store: SessionStore; reads: () => number } {
  let reads = 0;
  const runs: RunLog = {
    ...store.runs,
    read(...args) {
      reads++;
      return store.runs.read(...args);
    },
  };
  return { store: { ...store, runs }, reads: () => reads };
}

describe.for(storeKinds)("a resume by offset on $name", (kind) => {
  test(
    "reads the log at most three times for the last of 12,000 frames, in any process, live or finished",
    { timeout: 120_000 },
    async ({ skip }) => {
      const shared = await kind.open("resumes by offset");
      if (!shared) return skip();
      closers.push(shared.close);
      const { owner, other = owner } = shared;
      const ready = deferred();
      const gate = deferred();
      // Nothing that is merged: the log has an entry for each.
      async function* agent(): AsyncGenerator<AgentEvent> {
        for (let value = 2; value <= last; value++) yield { type: "CUSTOM", name: "n", value };
        ready.resolve();
        await gate.promise;
      }
      const start = async (sessions: SessionStore) => {
        const counted = counting(sessions);
        const handler = createAgentHandler(agent, {
          sessions: counted.store,
          logger: memoryLogger(),
        });
        const serving = await serve(handler, { port: 0, host: "127.0.0.1" });
        closers.push(() => serving.close());
        return { url: `http://127.0.0.1:${serving.port}/agui`, reads: counted.reads };
      };
      const here = await start(owner);
      const there = await start(other);
      const request = post({
        threadId: "t",
        runId: "r",
        messages: [{ id: "q", ...say("go") }],
        protocolVersion: "1.0",
      });
      const { headers } = request;
      const running = await fetch(here.url, {
        method: "POST",
        headers,
        body: await request.text(),
      });
      const whole = running.text();
      await ready.promise;
      await expect
        .poll(async () => (await owner.runs.find("", "r"))?.last, { timeout: 60_000 })
        .toBe(last);

      const resume = async ({ url, reads }: typeof here): Promise<[unknown, number]> => {
        const before = reads();
        const response = await fetch(`${url}/runs/r/events`, {
          headers: { "last-event-id": String(last - 1) },
        });
        for await (const { id, event } of framesOf(response)) {
          return [[id, event.value], reads() - before];
        }
        throw new Error("No frame came.");
      };
      for (const server of [there, here]) {
        const [frame, reads] = await resume(server);
        expect(frame).toEqual([last, last]);
        expect(reads).toBeLessThanOrEqual(3);
      }
      gate.resolve();
      expect(await whole).toContain("RUN_FINISHED");
      for (const server of [there, here]) {
        const [frame, reads] = await resume(server);
        expect(frame).toEqual([last, last]);
        expect(reads).toBeLessThanOrEqual(3);
      }
    },
  );
});
