import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { ask, assertFinished, createIds, noted, post, readSse, textOf, toInput } from "./check.ts";
import type { Check } from "./check.ts";
import {
  createGatedRun,
  gatedText,
  hasText,
  openGate,
  readGated,
  receive,
  runGated,
  steps,
} from "./gated.ts";

/** Streams over time: pace, heartbeats, clients that come back or read slowly. */
export const streamChecks: readonly Check[] = [
  {
    name: "streaming",
    shows: "deltas arrive as they are made",
    run: (target) => runGated(target),
  },
  {
    name: "after others",
    shows: "the same after short requests and while others end",
    async run(target) {
      for (let at = 0; at < 3; at++) await ask(target, "say one");
      const run = createGatedRun(target);
      const reader = readSse(await post(target, "/agui", run.input));
      await Promise.all([ask(target, "say one"), runGated(target)]);
      await readGated(run, reader);
    },
  },
  {
    name: "heartbeat",
    shows: "comments while an agent is silent",
    async run(target) {
      const run = createGatedRun(target);
      const reader = readSse(await post(target, "/agui", run.input));
      await receive(reader, 0);
      await reader.until(({ comments }) => comments >= 2);
      await readGated(run, reader);
    },
  },
  {
    name: "silence",
    shows: "an agent that is silent for 12 s, with the default heartbeat",
    async run(target) {
      const response = await post(target, "/silent/agui", toInput("quiet 12000"));
      assertFinished(await readSse(response).readToEnd());
    },
  },
  {
    name: "long silence",
    shows: "an agent that is silent for 70 s, with the default heartbeat",
    isLong: true,
    async run(target) {
      const response = await post(target, "/silent/agui", toInput("quiet 70000"));
      assertFinished(await readSse(response).readToEnd());
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
      const run = createGatedRun(target, ids);
      const first = readSse(await post(target, "/agui", run.input));
      await receive(first, 0);
      const { id } = first.events.at(-1)!;
      const headers = { "last-event-id": String(id) };
      const response = await fetch(`${url}/agui/runs/${ids.runId}/events`, { headers });
      const second = readSse(response);
      await run.open(0);
      for (let step = 1; step < steps; step++) {
        await Promise.all([receive(first, step), receive(second, step)]);
        await run.open(step);
      }
      const [all, rest] = await Promise.all([first.readToEnd(), second.readToEnd()]);
      assertFinished(all);
      assertFinished(rest);
      assert.equal(rest[0]!.id, id + 1);
      assert.equal(`0 ${textOf(rest)}`, gatedText);
    },
  },
  {
    name: "heartbeat after a resume",
    shows: "a client that follows a silent run receives heartbeats, also when the first has left",
    async run(target) {
      const { url, fetch } = target;
      const ids = createIds();
      const leaving = new AbortController();
      const input = toInput(`note ${ids.runId}`, ids);
      const response = await post(target, { path: "/keep/agui", signal: leaving.signal }, input);
      await readSse(response).until(hasText);
      const headers = { "last-event-id": "1" };
      const events = `${url}/keep/agui/runs/${ids.runId}/events`;
      const second = readSse(await fetch(events, { headers }));
      await second.until(hasText);
      leaving.abort();
      await second.until(({ comments }) => comments >= 2);
      await openGate(target, ids.runId);
      assertFinished(await second.readToEnd());
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
      const input = toInput(`note ${ids.runId}`, ids);
      const response = await post(target, { path: "/keep/agui", signal }, input);
      await readSse(response).until(hasText);
      leaving.abort();
      await openGate(target, ids.runId);
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
      const body = { message: `note ${key}` };
      const asking = post(target, { path: "/keep/agent/default/chat", signal }, body);
      await noted(target, key, "begun");
      leaving.abort();
      await assert.rejects(asking);
      await openGate(target, key);
      await noted(target, key, "finished");
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
      await Promise.all(Array.from({ length: 50 }, () => runGated(target)));
    },
  },
  {
    name: "fifty that leave",
    shows: "50 clients that leave, and one that stays",
    async run(target) {
      const run = createGatedRun(target);
      const staying = readSse(await post(target, "/agui", run.input));
      await Promise.all(
        Array.from({ length: 50 }, async () => {
          const leaving = new AbortController();
          const { signal } = leaving;
          const { input } = createGatedRun(target);
          const response = await post(target, { path: "/agui", signal }, input);
          await readSse(response).until(hasText);
          leaving.abort();
        }),
      );
      await readGated(run, staying);
      await runGated(target);
    },
  },
];
