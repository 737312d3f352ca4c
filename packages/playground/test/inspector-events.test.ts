import type { BaseEvent } from "@ag-ui/core";
import { describe, expect, test } from "vitest";
import { toEntries } from "../page/inspector/events/entries.ts";
import { familyOf } from "../page/inspector/events/families.ts";
import { countFamilies, filterEntries, toRows } from "../page/inspector/events/rows.ts";
import { summariseEvent, summariseRow } from "../page/inspector/events/summary.ts";
import { deltasOverTime, measure } from "../page/inspector/timing/timing.ts";
import { frame, text } from "./_frames.ts";

const hello = [
  frame(0, 40, { type: "RUN_STARTED", threadId: "t", runId: "r" }),
  frame(1, 50, { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" }),
  frame(2, 100, text("m", "Hel")),
  frame(3, 150, text("m", "lo ")),
  frame(4, 151),
  frame(5, 350, text("m", "you\n"), text("n", "!")),
  frame(6, 600, { type: "STATE_DELTA", delta: [{ op: "add", path: "/a", value: 1 }] }),
  frame(7, 700, { type: "RUN_FINISHED", threadId: "t", runId: "r" }),
];
const entries = toEntries(hello);

describe("a timeline", () => {
  test("has one entry for each event, with the time since the one before", () => {
    expect(entries.map(({ index, at, gap }) => [index, at, gap])).toEqual([
      [0, 40, 40],
      [1, 50, 10],
      [2, 100, 50],
      [3, 150, 50],
      [4, 350, 200],
      [5, 350, 0],
      [6, 600, 250],
      [7, 700, 100],
    ]);
  });

  test("folds deltas of one message that follow each other, and counts their characters", () => {
    const rows = toRows(entries, { isFolded: true });
    expect(rows.map(({ first, entries }) => [first.event.type, entries.length])).toEqual([
      ["RUN_STARTED", 1],
      ["TEXT_MESSAGE_START", 1],
      ["TEXT_MESSAGE_CONTENT", 3],
      ["TEXT_MESSAGE_CONTENT", 1],
      ["STATE_DELTA", 1],
      ["RUN_FINISHED", 1],
    ]);
    expect(summariseRow(rows[2]!)).toBe("10 chars · Hello you↵");
    expect(toRows(entries, { isFolded: false })).toHaveLength(entries.length);
  });

  test("never folds calls of two tools into one", () => {
    const args = (toolCallId: string) => ({ type: "TOOL_CALL_ARGS", toolCallId, delta: "{" });
    const mixed = toEntries([frame(0, 0, args("a"), args("b"), args("b"))]);
    expect(toRows(mixed, { isFolded: true }).map((row) => row.entries.length)).toEqual([1, 2]);
  });

  test("is filtered by every word of a text, in any case, and by family", () => {
    const find = (query: string) =>
      filterEntries(entries, { text: query, hidden: new Set() }).map(({ index }) => index);
    expect(find("HEL")).toEqual([2]);
    expect(find("content lo")).toEqual([3]);
    expect(find('run_ "r"')).toEqual([0, 7]);
    expect(find("nothing of that kind")).toEqual([]);
    const rest = filterEntries(entries, { text: "", hidden: new Set(["text", "run"]) });
    expect(rest.map(({ event }) => event.type)).toEqual(["STATE_DELTA"]);
  });

  test("counts its families", () => {
    expect(countFamilies(entries)).toEqual([
      ["run", 2],
      ["text", 5],
      ["state", 1],
    ]);
    expect(familyOf("SOMETHING_NEW")).toBe("other");
  });
});

describe("a summary", () => {
  test.for<[object, string]>([
    [text("m", "a\r\nb"), "a↵b"],
    [{ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "weather" }, "weather"],
    [{ type: "TOOL_CALL_RESULT", toolCallId: "c", content: '{"sun":1}' }, '{"sun":1}'],
    [{ type: "STATE_SNAPSHOT", snapshot: { plan: 1, note: 2 } }, "plan, note"],
    [
      {
        type: "STATE_DELTA",
        delta: [
          { op: "replace", path: "/plan/0", value: 1 },
          { op: "remove", path: "" },
        ],
      },
      "replace /plan/0, remove (all)",
    ],
    [{ type: "MESSAGES_SNAPSHOT", messages: [{}] }, "1 message"],
    [{ type: "RUN_ERROR", message: "Too long.", code: "timeout" }, "timeout · Too long."],
    [
      {
        type: "RUN_FINISHED",
        outcome: { type: "interrupt", interrupts: [{ id: "i" }] },
        usage: [{ outputTokens: 5 }, { outputTokens: 7 }, {}],
      },
      "interrupt (1) · 12 tokens",
    ],
    [{ type: "CUSTOM", name: "note", value: { a: 1 } }, 'note · {"a":1}'],
    [{ type: "STATE_DELTA", delta: null }, ""],
  ])("of %j is one line", ([event, line]) => {
    expect(summariseEvent(event as BaseEvent)).toBe(line);
  });

  test("is cut where it would not fit", () => {
    expect(summariseEvent(text("m", "x".repeat(10_000)))).toMatch(/^x{240}…$/);
  });
});

describe("timing", () => {
  test("shows the first byte, event and token, the pace and the longest gap", () => {
    expect(measure([frame(9, 5), ...hello], entries)).toMatchObject({
      firstByte: 5,
      firstEvent: 40,
      firstToken: 100,
      lastByte: 700,
      deltas: 4,
      deltasPerSecond: 16,
      tokens: 3,
      isEstimate: true,
      tokensPerSecond: 12,
      longestGap: { ms: 250, before: "STATE_DELTA" },
      events: 8,
    });
  });

  test("takes the tokens from the run's end", () => {
    const end = { type: "RUN_FINISHED", usage: [{ outputTokens: 500 }] };
    const frames = [...hello.slice(0, -1), frame(7, 700, end)];
    expect(measure(frames, toEntries(frames))).toMatchObject({
      tokens: 500,
      isEstimate: false,
      tokensPerSecond: 2000,
    });
  });

  test("claims no pace for what came in one piece, and nothing of nothing", () => {
    const frames = [frame(0, 10, text("m", "all at once"))];
    expect(measure(frames, toEntries(frames)).tokensPerSecond).toBeUndefined();
    expect(measure([], [])).toMatchObject({
      firstByte: undefined,
      longestGap: undefined,
      bytes: 0,
    });
  });

  test("counts types, most first", () => {
    expect(measure(hello, entries).counts.slice(0, 2)).toEqual([
      ["TEXT_MESSAGE_CONTENT", 4],
      ["RUN_FINISHED", 1],
    ]);
  });

  test("puts every delta into one part of the time", () => {
    expect(deltasOverTime(entries, 700, 7)).toEqual([0, 2, 0, 2, 0, 0, 0]);
    expect(deltasOverTime(entries, 350, 7)).toEqual([0, 0, 1, 1, 0, 0, 2]);
    expect(deltasOverTime(entries, 0, 2)).toEqual([4, 0]);
  });
});
