import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { faults, run, startGuard, tracker } from "./guard-kit.ts";
import type { Run } from "./guard-kit.ts";
import { anything, validRun } from "./guard-arbitraries.ts";
import type { Loose } from "./guard-arbitraries.ts";

const numRuns = Number(process.env.GUARD_RUNS ?? 1000);
const ends = ["complete", "fail", "cancel"] as const;

function play(values: readonly unknown[], end: (typeof ends)[number], strict = false): Run {
  const started = startGuard({ strict });
  for (const value of values) started.guard.push(value);
  if (end === "fail") started.guard.fail({ message: "Broken.", code: "agent-error" });
  else started.guard[end]();
  return started;
}

describe("the guard, whatever the agent says", () => {
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
        const said = beforeTheEnd(values).filter(isRecord);
        for (const [type, key] of deltas) {
          const wanted = collect(said, type, key);
          const chunks = collect(said, type.replace(/CONTENT|ARGS/, "CHUNK"), key);
          const got = collect(events as Loose[], type, key);
          for (const [id, pieces] of wanted) expect(isPart(pieces, got.get(id))).toBe(true);
          if (type === "TOOL_CALL_ARGS") continue;
          for (const [id, pieces] of chunks) expect(isPart(pieces, got.get(id))).toBe(true);
        }
        const strings = beforeTheEnd(values).filter((value) => typeof value === "string");
        const texts = events.flatMap((event) =>
          event.type === "TEXT_MESSAGE_CONTENT" ? [String((event as Loose).delta)] : [],
        );
        expect(isPart(strings.filter(Boolean), texts)).toBe(true);
      }),
      { numRuns },
    );
  });

  test("loses no state, step or activity", () => {
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 40 }), (values) => {
        const { events, state } = run(values);
        const said = beforeTheEnd(values).filter(isRecord);
        const count = (list: readonly Loose[], ...types: string[]): number =>
          list.filter((event) => types.includes(event.type as string)).length;
        const out = events as Loose[];
        for (const type of ["STEP_STARTED", "STEP_FINISHED"]) {
          const wanted = said.filter((e) => e.type === type && isText(e.stepName)).length;
          expect(count(out, type)).toBeGreaterThanOrEqual(wanted);
        }
        const whole = said.filter(
          (e) => e.type === "ACTIVITY_SNAPSHOT" && isText(e.activityType) && isRecord(e.content),
        );
        expect(count(out, "ACTIVITY_SNAPSHOT")).toBe(whole.length);
        const replica = tracker();
        for (const event of out) {
          if (event.type === "STATE_SNAPSHOT") replica.snapshot(event.snapshot);
          if (event.type === "STATE_DELTA") expect(replica.delta(event.delta as [])).toBe(true);
        }
        expect(replica.value).toEqual(state.value);
        const snapshots = said.filter(
          (e) => e.type === "STATE_SNAPSHOT" && e.snapshot !== undefined,
        );
        expect(count(out, "STATE_SNAPSHOT")).toBeGreaterThanOrEqual(snapshots.length);
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

const deltas = [
  ["TEXT_MESSAGE_CONTENT", "messageId"],
  ["REASONING_MESSAGE_CONTENT", "messageId"],
  ["TOOL_CALL_ARGS", "toolCallId"],
] as const;

function beforeTheEnd(values: readonly unknown[]): readonly unknown[] {
  const end = values.findIndex(
    (value) => isRecord(value) && (value.type === "RUN_FINISHED" || value.type === "RUN_ERROR"),
  );
  return end === -1 ? values : values.slice(0, end);
}

function collect(events: readonly Loose[], type: string, key: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const event of events) {
    const id = event[key];
    if (event.type !== type || typeof id !== "string" || !isText(event.delta)) continue;
    found.set(id, [...(found.get(id) ?? []), event.delta]);
  }
  return found;
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
