import { decode } from "@ag-ui/proto";
import { EventType } from "@holodeck/agui-core";
import type { BaseEvent } from "@holodeck/agui-core";
import { aguiProtoEncoder, loadProtoEncoder, protoMediaType } from "@holodeck/agui-protocol";
import * as fc from "fast-check";
import { afterAll, describe, expect, test, vi } from "vitest";
import { asJson, entry, odd, sampleRows, samples } from "./events.ts";

const encoder = await loadProtoEncoder();

/** The events in a stream of frames, each a big-endian length and so many bytes. */
function read(bytes: string | Uint8Array): Record<string, unknown>[] {
  if (typeof bytes === "string") throw new TypeError("Protobuf is bytes.");
  const events: Record<string, unknown>[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, false);
    expect(length).toBeGreaterThan(0);
    events.push(decode(bytes.subarray(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  return events;
}

const one = (event: BaseEvent): Record<string, unknown> | undefined =>
  read(encoder.encode(entry(event)))[0];

function stands(type: unknown): unknown {
  const event = { type, error: "This event could not be serialised." };
  return { type: "RAW", event, source: "agui" };
}

describe("the protobuf encoder", () => {
  // The codec writes to the console about what it cannot encode; nothing of ours may get that far.
  const warned = vi.spyOn(console, "warn");
  afterAll(() => expect(warned).not.toHaveBeenCalled());

  test.for(sampleRows)("carries %s whole", ([, event]) => {
    expect(one(event)).toEqual(asJson(event));
  });

  test("names its type exactly as clients compare it", () => {
    expect(encoder.contentType).toBe("application/vnd.ag-ui.event+proto");
    expect(protoMediaType).toBe(encoder.contentType);
    expect(encoder.key).toBe("agui-proto-1.0");
  });

  test("keeps the connection alive with an event that disturbs nothing", async () => {
    const fresh = await loadProtoEncoder();
    // Anything before RUN_STARTED would fail the run.
    expect(fresh.keepAlive?.(false)).toBe("");
    expect(read(fresh.keepAlive?.(true) ?? "")).toEqual([
      { type: "RAW", event: { type: "keep-alive" }, source: "agui" },
    ]);
  });

  test("is there without waiting once it was loaded", () => {
    const frame = aguiProtoEncoder().encode(entry(samples["raw"]!));
    expect(frame).toEqual(encoder.encode(entry(samples["raw"]!)));
  });

  const day = new Date(0);
  test.for<[string, unknown, unknown]>([
    ["a Date", { at: day }, { at: day.toISOString() }],
    ["undefined in an array", [1, undefined, 2], [1, null, 2]],
    ["undefined in an object", { a: undefined, b: 1 }, { b: 1 }],
    ["NaN and -0", [Number.NaN, -0], [null, 0]],
    ["a key with a number", { "1": { "2": "x" } }, { "1": { "2": "x" } }],
  ])("sees %s as JSON does", ([, snapshot, seen]) => {
    expect(one({ type: EventType.STATE_SNAPSHOT, snapshot })?.snapshot).toEqual(seen);
  });

  test.for<[unknown, number | undefined]>([
    [12.7, 13],
    [-0.2, 0],
    [Number.NaN, undefined],
    [1e300, undefined],
    ["soon", undefined],
  ])("makes of timestamp %s what the wire can hold", ([timestamp, seen]) => {
    const event = odd({ type: "RAW", event: 1, timestamp });
    expect(one(event)).toEqual({
      type: "RAW",
      event: 1,
      ...(seen !== undefined && { timestamp: seen }),
    });
  });

  test("leaves out members that AG-UI does not know", () => {
    const event = { type: EventType.STEP_STARTED, stepName: "s", extra: 1 };
    expect(one(event)).toEqual({ type: "STEP_STARTED", stepName: "s" });
  });

  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  test.for<[string, Record<string, unknown>]>([
    ["an unknown type", { type: "THINKING_START" }],
    ["a missing delta", { type: "TEXT_MESSAGE_CONTENT", messageId: "m" }],
    ["an id of the wrong kind", { type: "TEXT_MESSAGE_END", messageId: 5 }],
    ["a cycle", { type: "CUSTOM", name: "n", value: cycle }],
    ["a patch without operations", { type: "STATE_DELTA", delta: [{ path: "/a" }] }],
  ])("puts a RAW event in the place of one with %s", ([, event]) => {
    expect(one(odd(event))).toEqual(stands(event.type));
  });

  test.for<[string, Record<string, unknown>]>([
    ["a cyclic result", { result: cycle }],
    ["an outcome nobody knows", { outcome: { type: "exploded" } }],
    ["usage of the wrong kind", { usage: "lots" }],
  ])("ends a run with %s all the same", ([, more]) => {
    const ids = { threadId: "t", runId: "r" };
    expect(one({ type: EventType.RUN_FINISHED, ...ids, ...more })).toEqual({
      type: "RUN_FINISHED",
      ...ids,
    });
  });

  test("makes one readable frame of whatever it is given", () => {
    const type = fc.oneof(fc.constantFrom(...Object.values(EventType)), fc.string());
    const members = fc.dictionary(
      fc.constantFrom(
        "messageId",
        "delta",
        "content",
        "messages",
        "snapshot",
        "outcome",
        "timestamp",
        "metadata",
        "role",
        "name",
        "value",
      ),
      fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true }),
    );
    fc.assert(
      fc.property(type, members, (type, rest) => {
        expect(read(encoder.encode(entry(odd({ ...rest, type }))))).toHaveLength(1);
      }),
    );
  });
});
