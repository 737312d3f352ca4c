import { mockSink } from "@holodeck/agui-testing";
import { Observable } from "rxjs";
import { describe, expect, test } from "vitest";
import { mapEvents } from "../src/index.ts";
import type { AgentLike, BaseEvent } from "../src/index.ts";
import { broken, forever, setup, turn, types } from "./_hostile-kit.ts";
import { uncaughtDuring } from "./_uncaught.ts";

describe("a hostile agent", () => {
  test.for([
    ["an Observable", (): AgentLike => () => new Observable<BaseEvent>(() => broken)],
    [
      "a thing without rxjs",
      (): AgentLike => () => ({ subscribe: () => ({ unsubscribe: broken }) }),
    ],
    [
      "a thing that returns no subscription",
      (): AgentLike => (() => ({ subscribe: () => undefined })) as never,
    ],
    [
      "an iterator",
      (): AgentLike => () => ({
        [Symbol.asyncIterator]: () => ({ next: forever, return: broken }),
      }),
    ],
  ] as const)("cannot break the server with a teardown that throws: %s", async ([, make]) => {
    const sink = mockSink();
    const { run } = setup(make());
    const uncaught = await uncaughtDuring(() => {
      run.follow(sink.encoder, sink);
      expect(() => sink.leave()).not.toThrow();
    });
    expect(uncaught).toEqual([]);
    await run.done;
    expect(run.status).toBe("cancelled");
  });

  const traps: Record<string, () => unknown> = {
    "whose type cannot be read": () => ({
      get type() {
        return broken();
      },
    }),
    "whose field cannot be read": () => ({
      type: "CUSTOM",
      name: "x",
      get value() {
        return broken();
      },
    }),
    "with a BigInt where nobody looks": () => ({
      type: "TEXT_MESSAGE_START",
      messageId: "m",
      role: "assistant",
      extra: 1n,
    }),
    "that is a revoked proxy": () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    },
  };
  const ways: Record<string, (value: unknown) => AgentLike> = {
    "a synchronous Observable": (value) => () =>
      new Observable<BaseEvent>((subscriber) => {
        subscriber.next(value as BaseEvent);
        subscriber.complete();
      }),
    "an asynchronous Observable": (value) => () =>
      new Observable<BaseEvent>((subscriber) => {
        queueMicrotask(() => {
          subscriber.next(value as BaseEvent);
          subscriber.complete();
        });
      }),
    "a generator": (value) =>
      async function* () {
        yield value as BaseEvent;
      },
    "a returned value": (value) => async () => value,
    emit:
      (value) =>
      async (_input, { emit }) => {
        await emit.event(value as never);
      },
  };
  for (const [way, makeAgent] of Object.entries(ways)) {
    for (const [trap, makeValue] of Object.entries(traps)) {
      for (const layers of [0, 1]) {
        test(`ends its run once after an event ${trap}, from ${way}, behind ${layers} middleware`, async () => {
          const sink = mockSink();
          const { run } = setup(makeAgent(makeValue()), {
            init: { middleware: layers === 0 ? [] : [mapEvents((event) => event)] },
          });
          const uncaught = await uncaughtDuring(async () => {
            run.follow(sink.encoder, sink);
            for (let i = 0; i < 5; i++) await turn();
          });
          expect(uncaught).toEqual([]);
          expect(run.ended).toBe(true);
          expect(sink.ended).toBe(true);
          const terminals = sink.events.filter(({ type }) => /^RUN_(FIN|ERR)/.test(type));
          expect(terminals).toHaveLength(1);
        });
      }
    }
  }

  test("that middleware runs twice is still one valid run", async () => {
    const sink = mockSink();
    const { run } = setup(
      async function* () {
        yield "a";
      },
      {
        init: {
          middleware: [
            (input, context, next) =>
              new Observable((subscriber) => {
                const one = next(input, context).subscribe(subscriber);
                const two = next(input, context).subscribe(subscriber);
                return () => {
                  one.unsubscribe();
                  two.unsubscribe();
                };
              }),
          ],
        },
      },
    );
    run.follow(sink.encoder, sink);
    await run.done;
    expect(types(sink.events).filter((type) => type === "RUN_STARTED")).toHaveLength(1);
    expect(types(sink.events).filter((type) => type === "RUN_FINISHED")).toHaveLength(1);
  });
});
