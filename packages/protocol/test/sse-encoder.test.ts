import { EventSchema } from "@ag-ui/core/schemas";
import { EventType } from "@holodeck/agui-core";
import type { BaseEvent } from "@holodeck/agui-core";
import { aguiSseEncoder } from "@holodeck/agui-protocol";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asJson, entry, log, odd, sampleRows, samples } from "./events.ts";

const encoder = aguiSseEncoder({ protocolVersion: "1.0" });

/** Reads frames as the official client does: split at blank lines, keep `data:` lines. */
function read(bytes: string): { id?: string; data: unknown }[] {
  expect(bytes).not.toContain("\r");
  return bytes
    .split("\n\n")
    .filter((frame) => frame !== "" && !frame.startsWith(":"))
    .map((frame) => {
      const lines = frame.split("\n");
      const data = lines.filter((line) => line.startsWith("data: "));
      expect(data).toHaveLength(1);
      const id = lines.find((line) => line.startsWith("id: "));
      return { ...(id && { id: id.slice(4) }), data: JSON.parse(data[0]!.slice(6)) };
    });
}

const one = (event: BaseEvent): unknown => read(String(encoder.encode(entry(event))))[0]?.data;

describe("the SSE encoder", () => {
  test("has a sample of every event type there is", () => {
    const types = new Set(Object.values(samples).map((event) => event.type));
    expect([...types].sort()).toEqual(Object.values(EventType).sort());
    expect(types.size).toBe(31);
  });

  test.for(sampleRows)("carries %s whole", ([, event]) => {
    expect(EventSchema.safeParse(event).error).toBeUndefined();
    expect(one(event)).toStrictEqual(asJson(event));
  });

  test("sends the headers that clients and proxies need", () => {
    expect(encoder.contentType).toBe("text/event-stream");
    expect(encoder.headers).toEqual({
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    expect(encoder.keepAlive?.(false)).toBe(": keep-alive\n\n");
    expect(encoder).not.toHaveProperty("close");
  });

  test("numbers each frame with the last offset it covers", () => {
    const event = samples["raw"]!;
    const merged = encoder.encode({ from: 3, to: 9, at: 0, event });
    expect(read(String(merged))).toEqual([{ id: "9", data: asJson(event) }]);
    const unlogged = encoder.encode({ from: 0, to: 0, at: 0, event });
    expect(read(String(unlogged))).toEqual([{ data: asJson(event) }]);
  });

  test("shares bytes only between clients of one age", () => {
    expect(encoder.key).toBe("agui-sse-1.0");
    for (const protocolVersion of ["1.1", "1.7", "2.0", "next"]) {
      expect(aguiSseEncoder({ protocolVersion }).key).toBe("agui-sse-1.1");
    }
    expect(aguiSseEncoder().key).toBe("agui-sse-0");
  });

  test("sends any deltas of any ids as they are, in one frame each", () => {
    const id = fc.oneof(fc.constantFrom("a", "b", "__proto__"), fc.string({ unit: "grapheme" }));
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("\n\n", "\r", "data: x\n\n"),
    );
    const extra = fc.option(fc.record({ metadata: fc.dictionary(fc.string(), fc.string()) }));
    const delta = fc
      .tuple(
        fc.constantFrom("TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT", "TOOL_CALL_ARGS"),
        id,
        text,
        extra,
      )
      .map(([type, id, delta, more]): BaseEvent => {
        const key = type === "TOOL_CALL_ARGS" ? "toolCallId" : "messageId";
        return odd({ type, [key]: id, delta, ...more });
      });
    fc.assert(
      fc.property(fc.array(delta), (events) => {
        const fresh = aguiSseEncoder({ protocolVersion: "1.0" });
        const bytes = log(events).map((one) => fresh.encode(one));
        const frames = read(bytes.join(""));
        expect(frames.map(({ data }) => data)).toEqual(events.map(asJson));
        expect(frames.map(({ id }) => Number(id))).toEqual(events.map((_, index) => index + 1));
      }),
    );
  });

  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const hostile: [string, unknown][] = [
    ["a cycle", cycle],
    ["a BigInt", 1n],
    [
      "a toJSON that throws",
      {
        toJSON() {
          throw new Error("no");
        },
      },
    ],
  ];

  test.for(hostile)("puts a RAW event in the place of one whose content is %s", ([, value]) => {
    expect(one({ type: EventType.STATE_SNAPSHOT, snapshot: value })).toEqual({
      type: "RAW",
      event: { type: "STATE_SNAPSHOT", error: "This event could not be serialised." },
      source: "agui",
    });
  });

  test.for(hostile)("ends a run whose result is %s, without the result", ([, value]) => {
    const ids = { threadId: "t", runId: "r", usage: [{ inputTokens: 1 }] };
    const event = { type: EventType.RUN_FINISHED, ...ids, result: value };
    expect(one(event)).toEqual({ type: "RUN_FINISHED", ...ids });
  });
});
