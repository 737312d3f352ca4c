import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { ask, assertFinished, createIds, noted, post, readSse, textOf, toInput } from "./check.ts";
import type { Check, Received, Target } from "./check.ts";

const paced = "0 1 2 3 4 5 6 7 8 9 ";

/** Asserts that deltas came as they were made, and not at the end. */
function assertPaced(events: readonly Received[]): void {
  assertFinished(events);
  assert.equal(textOf(events), paced);
  const deltas = events.filter(({ event }) => event.delta !== undefined);
  const ms = deltas.at(-1)!.at - deltas[0]!.at;
  assert.ok(ms > 450, `nine deltas, 100 ms apart, came within ${Math.round(ms)} ms`);
}

function hasText({ events }: { events: readonly Received[] }): boolean {
  return textOf(events) !== "";
}

async function readPaced(target: Target): Promise<void> {
  const response = await post(target, "/agui", toInput("pace 10 100"));
  assertPaced(await readSse(response).readToEnd());
}

/** Streams over time: pace, heartbeats, clients that leave, come back or read slowly. */
export const streamChecks: readonly Check[] = [
  {
    name: "streaming",
    shows: "deltas arrive as they are made",
    run: readPaced,
  },
  {
    name: "after others",
    shows: "the same after short requests and while others end",
    async run(target) {
      for (let at = 0; at < 3; at++) await ask(target, "say one");
      const slow = readPaced(target);
      await Promise.all([ask(target, "say one"), ask(target, "pace 3 50")]);
      await slow;
    },
  },
  {
    name: "heartbeat",
    shows: "comments while an agent is silent",
    async run(target) {
      const reader = readSse(await post(target, "/agui", toInput("quiet 2600")));
      assertFinished(await reader.readToEnd());
      assert.ok(reader.comments >= 2, `${reader.comments} heartbeats`);
    },
  },
  {
    name: "timeout",
    shows: "a run that takes too long is ended",
    async run(target) {
      const response = await post(target, "/short/agui", toInput("quiet 20000"));
      const last = (await readSse(response).readToEnd()).at(-1);
      assert.equal(last?.event.code, "timeout");
    },
  },
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
      const next = await post(target, "/agui", toInput("pace 10 100", { threadId }));
      assertPaced(await readSse(next).readToEnd());
    },
  },
  {
    name: "resume",
    shows: "an ended run is read again from an offset",
    async run(target) {
      const { url, fetch } = target;
      const ids = createIds();
      const all = await readSse(
        await post(target, "/agui", toInput("say a b c d", ids)),
      ).readToEnd();
      const from = all[3]!.id;
      const headers = { "last-event-id": String(from) };
      const response = await fetch(`${url}/agui/runs/${ids.runId}/events`, { headers });
      const rest = await readSse(response).readToEnd();
      assertFinished(rest);
      assert.equal(rest[0]!.id > from, true);
      assert.equal(textOf(all.slice(0, 4)) + textOf(rest), "a b c d ");
    },
  },
  {
    name: "live resume",
    shows: "a second client follows a run from an offset, at its pace",
    async run(target) {
      const { url, fetch } = target;
      const ids = createIds();
      const first = readSse(await post(target, "/agui", toInput("pace 10 100", ids)));
      await first.until(hasText);
      const { id } = first.events.at(-1)!;
      const headers = { "last-event-id": String(id) };
      const response = await fetch(`${url}/agui/runs/${ids.runId}/events`, { headers });
      const second = readSse(response);
      const [all, rest] = await Promise.all([first.readToEnd(), second.readToEnd()]);
      assertPaced(all);
      assertFinished(rest);
      assert.equal(rest[0]!.id, id + 1);
      assert.equal(`0 ${textOf(rest)}`, paced);
      const deltas = rest.filter(({ event }) => event.delta !== undefined);
      assert.ok(
        deltas.at(-1)!.at - deltas[0]!.at > 300,
        "the second client received it at the end",
      );
    },
  },
  {
    name: "heartbeat after a resume",
    shows: "a client that follows a silent run receives heartbeats, also when the first has left",
    async run(target) {
      const { url, fetch } = target;
      const ids = createIds();
      const leaving = new AbortController();
      const input = toInput(`note ${ids.runId} 3000`, ids);
      const response = await post(target, { path: "/keep/agui", signal: leaving.signal }, input);
      await readSse(response).until(hasText);
      const headers = { "last-event-id": "1" };
      const events = `${url}/keep/agui/runs/${ids.runId}/events`;
      const second = readSse(await fetch(events, { headers }));
      await second.until(hasText);
      leaving.abort();
      assertFinished(await second.readToEnd());
      assert.ok(second.comments >= 2, `${second.comments} heartbeats`);
    },
  },
  {
    name: "continue",
    shows: 'with `onDisconnect: "continue"` a run goes on without its client',
    async run(target) {
      const { url, fetch } = target;
      const ids = createIds();
      const leaving = new AbortController();
      const { signal } = leaving;
      const input = toInput(`note ${ids.runId} 1500`, ids);
      const response = await post(target, { path: "/keep/agui", signal }, input);
      await readSse(response).until(hasText);
      leaving.abort();
      await noted(target, ids.runId, "finished");
      const headers = { "last-event-id": "1" };
      const again = await fetch(`${url}/keep/agui/runs/${ids.runId}/events`, { headers });
      const events = await readSse(again).readToEnd();
      assertFinished(events);
      assert.equal(textOf(events), "begun finished");
    },
  },
  {
    name: "continue a whole answer",
    shows: "the same for a client that waits for JSON",
    async run(target) {
      const key = randomUUID();
      const leaving = new AbortController();
      const { signal } = leaving;
      const body = { message: `note ${key} 1500` };
      const asking = post(target, { path: "/keep/agent/default/chat", signal }, body);
      setTimeout(() => leaving.abort(), 500);
      await assert.rejects(asking);
      await noted(target, key, "finished");
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
      const first = readSse(
        await post(target, "/queue/agui", toInput("pace 10 100", { threadId })),
      );
      await first.until(hasText);
      const second = await post(target, "/queue/agui", toInput("say next", { threadId }));
      const [all, next] = await Promise.all([first.readToEnd(), readSse(second).readToEnd()]);
      assertPaced(all);
      assertFinished(next);
      assert.ok(all.at(-1)!.at <= next.find(({ event }) => event.delta)!.at);
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
      const second = await post(target, "/replace/agui", toInput("pace 10 100", { threadId }));
      const [old, next] = await Promise.all([first.readToEnd(), readSse(second).readToEnd()]);
      assert.notEqual(old.at(-1)?.event.outcome, undefined);
      assertPaced(next);
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
  {
    name: "slow reader",
    shows: "12 MB for a client that pauses",
    async run(target) {
      const response = await post(target, "/agui", toInput("flood 768"));
      const reader = response.body!.getReader();
      let bytes = (await reader.read()).value!.length;
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      let tail = "";
      const decoder = new TextDecoder();
      for (let step = await reader.read(); !step.done; step = await reader.read()) {
        bytes += step.value.length;
        tail = (tail + decoder.decode(step.value, { stream: true })).slice(-2_000);
      }
      assert.ok(bytes > 768 * 16 * 1024, `${bytes} bytes, the last of them ${tail.slice(-200)}`);
      assert.match(tail, /RUN_FINISHED/);
    },
  },
  {
    name: "fifty at once",
    shows: "50 streams at the same time",
    async run(target) {
      await Promise.all(Array.from({ length: 50 }, () => readPaced(target)));
    },
  },
  {
    name: "fifty that leave",
    shows: "50 clients that leave, and one that stays",
    async run(target) {
      const staying = readPaced(target);
      await Promise.all(
        Array.from({ length: 50 }, async () => {
          const leaving = new AbortController();
          const { signal } = leaving;
          const response = await post(target, { path: "/agui", signal }, toInput("pace 10 100"));
          await readSse(response).until(hasText);
          leaving.abort();
        }),
      );
      await staying;
      await readPaced(target);
    },
  },
];
