import type { BaseEvent, Encoder } from "@holodeck/agui-core";
import { dataStreamEncoder, textStreamEncoder, uiStreamEncoder } from "@holodeck/agui-vercel";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { randomRun } from "../../core/test/random-run.ts";
import { validRun } from "../../core/test/guard-valid-runs.ts";

// Anything that a string can hold, half surrogate pairs too.
const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
const text = fc.oneof(
  fc.string({ unit, minLength: 1 }),
  fc.string({ minLength: 1 }),
  fc.constantFrom('"', "\\", "\n\n", "\r", "\u2028", "\ud800", "\udc00\ud800", "😀", "data: x\n\n"),
);

const streams: [string, () => Encoder, (delta: string, id: string, offset: number) => string][] = [
  [
    "the UI message stream",
    uiStreamEncoder,
    (delta, id, offset) =>
      `id: ${offset}\ndata: ${JSON.stringify({ type: "text-delta", id, delta })}\n\n`,
  ],
  ["the data stream", dataStreamEncoder, (delta) => `0:${JSON.stringify(delta)}\n`],
  ["the text stream", textStreamEncoder, (delta) => delta],
];

function tell(encoder: Encoder, events: readonly BaseEvent[], perOffset = 1): string[] {
  return events.map((event, at) => {
    const from = Math.floor(at / perOffset);
    return encoder.encode({ event, from, to: from + 1, at: 0 }) as string;
  });
}

function delta(messageId: string, said: string): BaseEvent {
  return { type: "TEXT_MESSAGE_CONTENT", messageId, delta: said } as BaseEvent;
}

/** No stream has a word for it, so it must not change what the others say. */
const unheard = { type: "RAW", event: {} } as BaseEvent;

describe.each(streams)("deltas of one message in %s", (_, create, expected) => {
  test("are what JSON makes of them, whatever they hold", () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 2 }), text, ([first = "", ...others], id) => {
        const encoder = create();
        tell(encoder, [
          { type: "RUN_STARTED", threadId: "t", runId: "r" } as BaseEvent,
          { type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" } as BaseEvent,
          delta(id, first),
        ]);
        const frames = tell(
          encoder,
          others.map((one) => delta(id, one)),
        );
        expect(frames).toEqual(others.map((one, at) => expected(one, id, at + 1)));
      }),
      { numRuns: 300 },
    );
  });

  test("are the same after a delta and after anything else", () => {
    const id = fc.constantFrom("a", "b");
    const role = fc.constantFrom(undefined, "assistant", "user");
    const said = fc.record({
      type: fc.constantFrom("TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK"),
      messageId: id,
      delta: fc.oneof(text, fc.constantFrom("", undefined)),
    });
    const begun = fc.record({ type: fc.constant("TEXT_MESSAGE_START"), messageId: id, role });
    const ended = fc.record({ type: fc.constant("TEXT_MESSAGE_END"), messageId: id });
    const loose = fc.array(fc.oneof({ weight: 5, arbitrary: said }, begun, ended));
    const anyRun = fc.oneof(loose, validRun, randomRun) as fc.Arbitrary<BaseEvent[]>;
    fc.assert(
      fc.property(anyRun, (events) => {
        const together = tell(create(), events);
        const apart = tell(
          create(),
          events.flatMap((event) => [event, unheard]),
          2,
        );
        expect(apart.filter((__, index) => index % 2 === 0)).toEqual(together);
        expect(apart.filter((__, index) => index % 2 === 1).join("")).toBe("");
      }),
      // The first event of a stream comes with the head, so that it has bytes though it says nothing.
      { numRuns: 300, examples: [[[delta("a", ""), delta("a", "x"), delta("b", "y")]]] },
    );
  });

  test("are the same when several come at once", () => {
    const id = fc.constantFrom("a", "b");
    const type = fc.constantFrom("TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT");
    const part = fc.oneof(
      fc.record({ type, messageId: id }),
      fc.record({ type: fc.constant("TOOL_CALL_ARGS"), toolCallId: id }),
    );
    const deltas = fc.array(fc.oneof(text, fc.constantFrom("", "plain")), { minLength: 2 });
    const run = fc.oneof(validRun, randomRun) as fc.Arbitrary<BaseEvent[]>;
    const begun = fc.constantFrom<BaseEvent[]>(
      [],
      [{ type: "TEXT_MESSAGE_START", messageId: "a", role: "user" } as BaseEvent],
      [{ type: "TEXT_MESSAGE_START", messageId: "a" } as BaseEvent, delta("a", "x")],
      [{ type: "TOOL_CALL_START", toolCallId: "a", toolCallName: "look" } as BaseEvent],
    );
    const property = fc.property(begun, part, deltas, run, (before, of, said, after) => {
      const [single, whole] = [create(), create()];
      tell(single, before);
      tell(whole, before);
      const event = { ...of, delta: said.join("") } as BaseEvent;
      const line = { from: 1, to: said.length, at: 0, event };
      const each = said.map((one, index) => {
        const offset = 1 + index;
        return single.encode({
          ...line,
          from: offset,
          to: offset,
          event: { ...event, delta: one },
        });
      });
      expect(whole.encodeDeltas!(line, said)).toBe(each.join(""));
      expect(tell(whole, after)).toEqual(tell(single, after));
    });
    fc.assert(property, { numRuns: 300 });
  });
});
