import { collect, runAgent, settle } from "@holodeck/agui-testing";
import * as fc from "fast-check";
import { concat, NEVER, Observable, of, throwError } from "rxjs";
import { describe, expect, test } from "vitest";
import { mergeStreams } from "../src/index.ts";
import type { MergeSource } from "../src/index.ts";

const numRuns = Number(process.env.MERGE_RUNS ?? 200);

/** A source that a test moves by hand. */
interface Manual {
  readonly source: MergeSource<string>;
  emit(value: string): void;
  complete(): void;
  fail(reason: Error): void;
  started: boolean;
  tornDown: number;
}

function manualObservable(): Manual {
  const manual: Manual = {
    source: new Observable<string>((subscriber) => {
      manual.started = true;
      manual.emit = (value) => subscriber.next(value);
      manual.complete = () => subscriber.complete();
      manual.fail = (reason) => subscriber.error(reason);
      return () => void manual.tornDown++;
    }),
    emit() {},
    complete() {},
    fail() {},
    started: false,
    tornDown: 0,
  };
  return manual;
}

function manualGenerator(): Manual {
  const moves: (() => string | undefined)[] = [];
  let wake = (): void => {};
  const move = (step: () => string | undefined): void => {
    moves.push(step);
    wake();
  };
  async function* run(): AsyncGenerator<string> {
    manual.started = true;
    try {
      for (;;) {
        if (moves.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        const value = moves.shift()!();
        if (value === undefined) return;
        yield value;
      }
    } finally {
      manual.tornDown++;
    }
  }
  const manual: Manual = {
    source: run(),
    emit: (value) => move(() => value),
    complete: () => move(() => undefined),
    fail: (reason) =>
      move(() => {
        throw reason;
      }),
    started: false,
    tornDown: 0,
  };
  return manual;
}

interface Heard {
  readonly values: string[];
  end: string | undefined;
  leave(): void;
}

function subscribe(sources: readonly Manual[]): Heard {
  const heard: Heard = { values: [], end: undefined, leave() {} };
  const subscription = mergeStreams(...sources.map(({ source }) => source)).subscribe({
    next: (value) => heard.values.push(value),
    error: (reason: Error) => (heard.end = reason.message),
    complete: () => (heard.end = "complete"),
  });
  heard.leave = () => subscription.unsubscribe();
  return heard;
}

function iterate(sources: readonly Manual[]): Heard {
  const heard: Heard = { values: [], end: undefined, leave() {} };
  const iterator = mergeStreams(...sources.map(({ source }) => source))[Symbol.asyncIterator]();
  heard.leave = () => void iterator.return!();
  void (async () => {
    try {
      for (let step = await iterator.next(); !step.done; step = await iterator.next()) {
        heard.values.push(step.value);
      }
      heard.end ??= "complete";
    } catch (error) {
      heard.end = (error as Error).message;
    }
  })();
  return heard;
}

const move = fc.record({
  source: fc.nat(3),
  kind: fc.constantFrom("emit", "emit", "emit", "emit", "emit", "complete"),
});

describe("mergeStreams", () => {
  test.for([
    ["subscribed to", subscribe],
    ["iterated", iterate],
  ] as const)("sends at once what any source sends, when %s", async ([, listen]) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }),
        fc.array(move, { maxLength: 20 }),
        fc.constantFrom("leave", "fail", "complete"),
        async (kinds, moves, ending) => {
          const sources = kinds.map((lives) => (lives ? manualObservable() : manualGenerator()));
          const heard = listen(sources);
          await settle();
          const said: string[] = [];
          const done = new Set<Manual>();
          for (const { source: index, kind } of moves) {
            const source = sources[index % sources.length]!;
            if (done.has(source)) continue;
            if (kind === "complete" && done.size < sources.length - 1) {
              done.add(source);
              source.complete();
            } else {
              said.push(`${index % sources.length}:${said.length}`);
              source.emit(said.at(-1)!);
            }
            await settle();
            // Whoever has something to say is heard, whatever the others wait for.
            expect(heard.values).toEqual(said);
          }
          const open = sources.filter((source) => !done.has(source));
          if (ending === "leave") heard.leave();
          else if (ending === "fail") open[0]!.fail(new Error("broken"));
          else open.forEach((source) => source.complete());
          await settle();
          if (ending !== "leave") {
            expect(heard.end).toBe(ending === "fail" ? "broken" : "complete");
          }
          // A generator that waits hears of it when it comes round.
          if (ending !== "complete") open.forEach((source) => source.emit("late"));
          await settle();
          expect(heard.values).toEqual(said);
          expect(sources.map(({ tornDown }) => tornDown)).toEqual(sources.map(() => 1));
        },
      ),
      { numRuns },
    );
  });

  test("starts nothing before a subscriber comes", async () => {
    const sources = [manualObservable(), manualGenerator()];
    const merged = mergeStreams(...sources.map(({ source }) => source));
    await settle();
    expect(sources.map(({ started }) => started)).toEqual([false, false]);
    merged.subscribe();
    await settle();
    expect(sources.map(({ started }) => started)).toEqual([true, true]);
  });

  test("sends everything of arrays, Observables and generators", async () => {
    const generator = async function* (): AsyncGenerator<number> {
      yield 5;
      yield await Promise.resolve(6);
    };
    const values = await collect(mergeStreams([1, 2], of(3, 4), generator()));
    expect(new Set(values)).toEqual(new Set([1, 2, 3, 4, 5, 6]));
    expect(values).toHaveLength(6);
    expect(await collect(mergeStreams())).toEqual([]);
  });

  test("starts no further source once one has failed", async () => {
    const later = manualObservable();
    const merged = mergeStreams(
      throwError(() => new Error("broken")),
      later.source,
    );
    await expect(collect(merged)).rejects.toThrow("broken");
    expect(later.started).toBe(false);
  });

  test("sends what came before a failure", async () => {
    const failing = concat(
      of("a", "b"),
      throwError(() => new Error("broken")),
    );
    const values: string[] = [];
    const read = async (): Promise<void> => {
      for await (const value of mergeStreams(failing, NEVER)) values.push(value);
    };
    await expect(read()).rejects.toThrow("broken");
    expect(values).toEqual(["a", "b"]);
  });

  test("tears down the others when one source's teardown throws", () => {
    const other = manualObservable();
    const hostile = {
      subscribe: () => ({
        unsubscribe() {
          throw new Error("teardown");
        },
      }),
    };
    mergeStreams(hostile, other.source).subscribe().unsubscribe();
    expect(other.tornDown).toBe(1);
  });

  test("asks a generator for more only when its last value was taken", async () => {
    let asked = 0;
    const counting = async function* (): AsyncGenerator<number> {
      for (;;) yield await Promise.resolve(++asked);
    };
    const iterator = mergeStreams(counting(), NEVER)[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: 1 });
    await settle();
    expect(asked).toBe(2);
    await iterator.return!();
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  test("is what an agent may return", async () => {
    const progress = of({ type: "CUSTOM", name: "progress", value: 1 } as const);
    const run = await runAgent(
      () =>
        mergeStreams(
          (async function* () {
            yield await Promise.resolve("Hello ");
            yield "world";
          })(),
          progress,
        ),
      { message: "hi" },
    );
    expect(run.text).toBe("Hello world");
    expect(run.events.map(({ type }) => type)).toContain("CUSTOM");
  });

  test("refuses what is no stream, and names which", () => {
    expect(() => mergeStreams([1], "text" as never)).toThrow(
      'mergeStreams takes Observables and iterables; number 2 is "text".',
    );
  });
});
