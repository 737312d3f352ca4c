import { EventType } from "@ag-ui/core";
import type { JsonPatch } from "@ag-ui/core";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { effort } from "../../../scripts/test-support/effort.ts";
import { expandOfficially, faults, run, startGuard, tracker } from "./guard-kit.ts";
import type { Run } from "./guard-kit.ts";
import { anything } from "./guard-arbitraries.ts";
import { chunkRun, validRun } from "./guard-valid-runs.ts";
import type { Loose } from "./guard-arbitraries.ts";

const numRuns = Number(process.env.GUARD_RUNS ?? effort(1000, 250));
const ends = ["complete", "fail", "cancel"] as const;

function play(values: readonly unknown[], end: (typeof ends)[number], strict = false): Run {
  const started = startGuard({ strict });
  for (const value of values) started.guard.push(value);
  if (end === "fail") started.guard.fail({ message: "Broken.", code: "agent-error" });
  else started.guard[end]();
  return started;
}

// Thousands of runs through two verifiers: seconds on a busy machine.
describe("the guard, whatever the agent sends", { timeout: 300_000 }, () => {
  test("makes a run that both official verifiers and the schemas accept", () => {
    fc.assert(
      fc.property(
        fc.array(anything, { maxLength: 40 }),
        fc.constantFrom(...ends),
        (values, end) => {
          expect(faults(play(values, end).events)).toEqual([]);
        },
      ),
      { numRuns },
    );
  });

  test("makes a valid run in strict mode too", () => {
    fc.assert(
      fc.property(
        fc.array(anything, { maxLength: 12 }),
        fc.constantFrom(...ends),
        (values, end) => {
          const { events, guard } = play(values, end, true);
          expect(faults(events)).toEqual([]);
          if (guard.repairs.size > 0 && !guard.repairs.has("after-end")) {
            expect(events.at(-1)).toMatchObject({ code: "protocol-violation" });
          }
        },
      ),
      { numRuns },
    );
  });

  test("changes nothing the agent still holds", () => {
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 30 }), (values) => {
        const before = values.map((value) => safeClone(value));
        run(values);
        expect(values.map((value) => safeClone(value))).toEqual(before);
      }),
      { numRuns },
    );
  });

  test("loses no text, no arguments and no reasoning", () => {
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 40 }), (values) => {
        const { events } = run(values);
        const said = beforeTheEnd(values).map(asEvent).filter(isRecord);
        for (const [type, chunk, key] of deltas) {
          const wanted = said.filter((event) => isDelta(event, type) || isDelta(event, chunk));
          const got = events.filter((event) => isDelta(event, type));
          expect(isPart(wanted.map(deltaOf), got.map(deltaOf))).toBe(true);
          for (const id of ["a", "b", "c"]) {
            const isOf = (event: Loose): boolean => event[key] === id;
            const pieces = wanted.filter(isOf).map(deltaOf);
            expect(isPart(pieces, got.filter(isOf).map(deltaOf))).toBe(true);
          }
        }
      }),
      { numRuns },
    );
  });

  test("loses no state, step or activity", () => {
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 40 }), (values) => {
        const { events, state } = run(values);
        const said = beforeTheEnd(values).filter(isRecord);
        for (const type of ["STEP_STARTED", "STEP_FINISHED"]) {
          const wanted = said.filter((e) => e.type === type && isText(e.stepName)).length;
          expect(count(events, type)).toBeGreaterThanOrEqual(wanted);
        }
        const whole = said.filter(
          (e) =>
            e.type === "ACTIVITY_SNAPSHOT" &&
            isText(e.activityType) &&
            isRecord(e.content) &&
            isRecord(jsonOf(e.content)),
        );
        expect(count(events, "ACTIVITY_SNAPSHOT")).toBe(whole.length);
        const replica = tracker();
        for (const event of events) {
          if (event.type === EventType.STATE_SNAPSHOT) replica.snapshot(event.snapshot);
          if (event.type === EventType.STATE_DELTA)
            expect(replica.delta(patchOf(event))).toBe(true);
        }
        expect(replica.value).toEqual(state.value);
        const snapshots = said.filter(
          (e) => e.type === "STATE_SNAPSHOT" && jsonOf(e.snapshot) !== undefined,
        );
        expect(count(events, "STATE_SNAPSHOT")).toBeGreaterThanOrEqual(snapshots.length);
      }),
      { numRuns },
    );
  });

  test("lets a valid run pass as it is", () => {
    fc.assert(
      fc.property(validRun, (values) => {
        const { events, guard } = run(values);
        expect([...guard.repairs]).toEqual([]);
        expect(events).toEqual(values);
        expect(events.slice(1)).toSatisfy((out: unknown[]) =>
          out.every((event, i) => event === values[i + 1]),
        );
        expect(faults(events)).toEqual([]);
      }),
      { numRuns },
    );
  });

  test("expands chunks with ids as the official client does", () => {
    fc.assert(
      fc.property(chunkRun, (values) => {
        const { events, guard } = run(values);
        const { outcome: _, ...end } = events.at(-1)!;
        expect([...events.slice(0, -1), end]).toEqual(expandOfficially(values));
        expect([...guard.repairs]).toEqual([]);
      }),
      { numRuns },
    );
  });

  test("makes the same run of a run that it has made", () => {
    fc.assert(
      fc.property(
        fc.array(anything, { maxLength: 30 }),
        fc.constantFrom(...ends),
        (values, end) => {
          const first = play(values, end);
          const second = run(first.events);
          expect(second.events).toEqual(first.events);
          expect([...second.guard.repairs]).toEqual([]);
        },
      ),
      { numRuns },
    );
  });
});

function count(events: readonly Loose[], type: string): number {
  return events.filter((event) => event.type === type).length;
}

function patchOf({ delta }: Loose): JsonPatch {
  return Array.isArray(delta) ? delta : [];
}

function jsonOf(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return undefined;
  }
}

const deltas = [
  ["TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK", "messageId"],
  ["REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_CHUNK", "messageId"],
  ["TOOL_CALL_ARGS", "TOOL_CALL_CHUNK", "toolCallId"],
] as const;

// A chunk that names no tool may have nothing to continue.
function isDelta(event: Loose, type: string): boolean {
  if (event.type !== type || typeof event.delta !== "string") return false;
  return type !== "TOOL_CALL_CHUNK" || isText(event.toolCallName);
}

function deltaOf(event: Loose): unknown {
  return event.delta;
}

function asEvent(value: unknown): unknown {
  return typeof value === "string" ? { type: "TEXT_MESSAGE_CHUNK", delta: value } : value;
}

function beforeTheEnd(values: readonly unknown[]): readonly unknown[] {
  const end = values.findIndex(
    (value) => isRecord(value) && (value.type === "RUN_FINISHED" || value.type === "RUN_ERROR"),
  );
  return end === -1 ? values : values.slice(0, end);
}

/** Whether all pieces occur in this order. */
function isPart(pieces: readonly unknown[], whole: readonly unknown[] = []): boolean {
  let at = 0;
  for (const piece of pieces) {
    if (piece === "") continue;
    at = whole.indexOf(piece, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isRecord(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function safeClone(value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch {
    return String(value);
  }
}
