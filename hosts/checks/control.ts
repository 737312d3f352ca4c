import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { assertFinished, createIds, noted, post, readSse, toInput } from "./check.ts";
import type { Check } from "./check.ts";
import { createGatedRun, hasText, receive, runGated, steps } from "./gated.ts";

/** What one request does to the run of another: stops, threads in use, clients that leave. */
export const controlChecks: readonly Check[] = [
  {
    name: "stop",
    shows: "another request stops a run",
    async run(target) {
      const ids = createIds();
      const reader = readSse(await post(target, "/agui", toInput(`wait ${ids.runId}`, ids)));
      await reader.until(hasText);
      const stopped = await post(target, `/agui/runs/${ids.runId}/stop`, {});
      assert.ok(stopped.ok, await stopped.text());
      assert.equal((await reader.readToEnd()).at(-1)?.event.outcome?.type, "cancelled");
      await noted(target, ids.runId, "aborted");
    },
  },
  {
    name: "disconnect",
    shows: "a client that leaves ends its run",
    async run(target) {
      const ids = createIds();
      const leaving = new AbortController();
      const { signal } = leaving;
      const response = await post(
        target,
        { path: "/agui", signal },
        toInput(`wait ${ids.runId}`, ids),
      );
      await readSse(response).until(hasText);
      leaving.abort();
      await noted(target, ids.runId, "aborted");
    },
  },
  {
    name: "after a disconnect",
    shows: "the thread takes the next run",
    async run(target) {
      const { threadId, runId } = createIds();
      const leaving = new AbortController();
      const { signal } = leaving;
      const input = toInput(`wait ${runId}`, { threadId, runId });
      await readSse(await post(target, { path: "/agui", signal }, input)).until(hasText);
      leaving.abort();
      await runGated(target, "/agui", { threadId });
    },
  },
  {
    name: "busy",
    shows: "a second run on a thread is refused with 409",
    async run(target) {
      const ids = createIds();
      const reader = readSse(await post(target, "/agui", toInput(`wait ${ids.runId}`, ids)));
      await reader.until(hasText);
      const second = await post(target, "/agui", toInput("say one", { threadId: ids.threadId }));
      assert.equal(second.status, 409, await second.text());
      await post(target, `/agui/runs/${ids.runId}/stop`, {});
      await reader.readToEnd();
    },
  },
  {
    name: "queue",
    shows: 'with `onBusy: "queue"` it waits for the first',
    async run(target) {
      const { threadId } = createIds();
      const run = createGatedRun(target, { threadId });
      const first = readSse(await post(target, "/queue/agui", run.input));
      await first.until(hasText);
      const second = readSse(await post(target, "/queue/agui", toInput("say next", { threadId })));
      let isLast = false;
      const next = second.until(hasText).then(() => assert.ok(isLast, "it did not wait"));
      for (let step = 0; step < steps; step++) {
        await receive(first, step);
        isLast = step === steps - 1;
        await run.open(step);
      }
      assertFinished(await first.readToEnd());
      await next;
      assertFinished(await second.readToEnd());
    },
  },
  {
    name: "replace",
    shows: 'with `onBusy: "replace"` it takes the place of the first',
    async run(target) {
      const { threadId, runId } = createIds();
      const input = toInput(`wait ${runId}`, { threadId, runId });
      const first = readSse(await post(target, "/replace/agui", input));
      await first.until(hasText);
      await runGated(target, "/replace/agui", { threadId });
      assert.notEqual((await first.readToEnd()).at(-1)?.event.outcome, undefined);
    },
  },
  {
    name: "deleted while it runs",
    shows: "deleting a thread ends its run",
    async run(target) {
      const { url, fetch } = target;
      const response = await post(target, "/chat", { message: `wait ${randomUUID()}` });
      const threadId = response.headers.get("x-thread-id");
      const reading = response.text();
      const deleted = await fetch(`${url}/threads/${threadId}`, { method: "DELETE" });
      assert.equal(deleted.status, 204, await deleted.text());
      assert.match(await reading, /cancelled/);
    },
  },
];
