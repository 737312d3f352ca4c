import jsonPatch from "fast-json-patch";
import { expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import { eventsOf, memoryLogger, post, say } from "./_helpers.ts";

const before = {
  "a/b": { "c~d": 1, kept: "x".repeat(200) },
  "": [1, 2, 3],
  "~1": "tilde one",
  gone: true,
};
const after = {
  "a/b": { "c~d": 2, kept: "x".repeat(200) },
  "": [1, 2, 3, 4],
  "~1": "another",
  "new/~": null,
};

test("what state.set changes is sent as RFC 6902, with names escaped as RFC 6901 asks", async () => {
  const { fetch } = createAgentHandler(
    async (_input, { state }) => {
      await state.set(before);
      await state.set(after);
    },
    { logger: memoryLogger() },
  );
  const events = await eventsOf(await fetch(post({ messages: [say("hi")] })));
  const snapshot = events.find(({ type }) => type === "STATE_SNAPSHOT")!.snapshot;
  const deltas = events.filter(({ type }) => type === "STATE_DELTA");
  expect(snapshot).toEqual(before);
  expect(deltas).toHaveLength(1);
  const operations = deltas[0]!.delta as { op: string; path: string }[];
  expect(operations.map(({ op, path }) => `${op} ${path}`).toSorted()).toEqual([
    "add //3",
    "add /new~1~0",
    "remove /gone",
    "replace /a~1b/c~0d",
    "replace /~01",
  ]);
  // Another implementation of the two standards comes to the same state.
  const client = structuredClone(snapshot);
  expect(jsonPatch.applyPatch(client, operations as never, true).newDocument).toEqual(after);
});
