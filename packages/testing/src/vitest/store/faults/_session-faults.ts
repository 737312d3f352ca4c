import { isAgentError } from "@holodeck/agui-core";
import type { Awaitable, Session, SessionStore } from "@holodeck/agui-core";
import { describe, expect } from "vitest";
import { assistant, idsOf, sessionInit, user } from "../_store-kit.ts";
import type { SessionKit } from "../_store-kit.ts";
import { mark, openBenchRun } from "../_store-bench.ts";
import {
  atEachCall,
  createFaultGate,
  faults,
  openFaulty,
  withoutRejections,
} from "./_store-faults.ts";
import type { FaultGate } from "./_store-faults.ts";

/** The code of a failure, as a store has to report that of its database. */
export async function failureOf(work: () => unknown): Promise<string | undefined> {
  try {
    await work();
  } catch (error) {
    return isAgentError(error) ? error.code : String(error);
  }
  return undefined;
}

/** What sessions are when calls to the database fail, hang, or are answered too late. */
export function testSessionFaults({ bench, define }: SessionKit): void {
  async function openGated(): Promise<{ store: SessionStore; gate: FaultGate }> {
    const gate = createFaultGate();
    return { store: await openFaulty(bench, gate), gate };
  }

  const nth = (after: number): { principal: string; threadId: string } => ({
    principal: "ann",
    threadId: `t${after}`,
  });

  // What waits for a call that was held back goes on when that is given up.
  const soon = <T>(work: Awaitable<T>): Promise<T> => bench.within(Promise.resolve(work));

  describe("a database", () => {
    define(
      "that hangs makes every call fail with store-unavailable, and is used again afterwards",
      async () => {
        const unhandled = await withoutRejections(bench, async () => {
          const { store, gate } = await openGated();
          const [key, run] = [nth(0), { ...nth(0), runId: "r1" }];
          await store.create(key, sessionInit);
          const lease = await openBenchRun(store.runs, run);
          const calls: Record<string, () => unknown> = {
            get: () => store.get(key),
            create: () => store.create(nth(1), sessionInit),
            update: () => store.update(key, { state: 1 }),
            touch: () => store.touch(key),
            list: () => store.list({ principal: "ann", limit: 10 }),
            cleanupExpired: () => store.cleanupExpired(),
            take: () => store.take("bucket", 1, { tokens: 5, perMs: 1_000 }),
            open: () => store.runs.open({ ...nth(2), runId: "r2" }, sessionInit),
            append: () => store.runs.append(lease, [mark(1)]),
            find: () => store.runs.find("ann", "r1"),
            active: () => store.runs.active(key),
            read: () => store.runs.read(run, 0),
            watchers: () => store.runs.watchers(run),
            send: () => store.runs.requestStop(run),
            async follow() {
              for await (const _ of store.runs.follow(run, 0, new AbortController().signal));
            },
          };
          gate.arm("answers late", 0);
          const ended = Object.entries(calls).map(
            async ([name, call]) => [name, await failureOf(call)] as const,
          );
          const codes = Object.fromEntries(await bench.within(Promise.all(ended)));
          gate.disarm();
          expect(codes).toEqual(
            Object.fromEntries(Object.keys(calls).map((name) => [name, "store-unavailable"])),
          );
          await soon(store.update(key, { append: [user("1")] }));
          await gate.release();
          expect(idsOf(await store.get(key))).toEqual(["1"]);
        });
        expect(unhandled).toEqual([]);
      },
      "faults",
    );

    for (const fault of faults) {
      define(
        `that ${fault} makes an update once or not at all`,
        async () => {
          const unhandled = await withoutRejections(bench, async () => {
            const { store, gate } = await openGated();
            await atEachCall(async (after) => {
              const key = nth(after);
              await store.create(key, sessionInit);
              gate.arm(fault, after);
              const first = { append: [user("1")], state: "first" };
              const code = await bench.within(failureOf(() => store.update(key, first)));
              const isHit = gate.disarm();
              expect([undefined, "store-unavailable"]).toContain(code);
              const second = { append: [assistant("2")], state: "second" };
              const stored = await soon(store.update(key, second));
              await gate.release();
              expect(await soon(store.get(key))).toEqual(stored);
              expectOnce(stored, code === undefined);
              return isHit;
            });
          });
          expect(unhandled).toEqual([]);
        },
        "faults",
      );

      define(
        `that ${fault} makes a session once or not at all`,
        async () => {
          const unhandled = await withoutRejections(bench, async () => {
            const { store, gate } = await openGated();
            await atEachCall(async (after) => {
              const key = nth(after);
              gate.arm(fault, after);
              const code = await bench.within(failureOf(() => store.create(key, sessionInit)));
              const isHit = gate.disarm();
              expect([undefined, "store-unavailable"]).toContain(code);
              const again = await soon(failureOf(() => store.create(key, sessionInit)));
              expect(code ? [undefined, "run-exists"] : ["run-exists"]).toContain(again);
              const stored = await soon(store.update(key, { state: "kept" }));
              await gate.release();
              expect(await soon(store.get(key))).toEqual(stored);
              const { items } = await store.list({ principal: "ann", limit: 100 });
              expect(items.filter(({ threadId }) => threadId === key.threadId)).toHaveLength(1);
              return isHit;
            });
          });
          expect(unhandled).toEqual([]);
        },
        "faults",
      );
    }
  });
}

function expectOnce(session: Session, isFirstThere: boolean): void {
  const ids = idsOf(session);
  expect(isFirstThere ? [["1", "2"]] : [["1", "2"], ["2"]]).toContainEqual(ids);
  expect(session).toMatchObject({ state: "second", messageCount: ids.length });
  expect(session.version).toBe(1 + ids.length);
}
