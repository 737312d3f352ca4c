import { mockSink } from "@holodeck/agui-testing";
import { Subject } from "rxjs";
import { describe, expect, test } from "vitest";
import type { BaseEvent } from "../src/index.ts";
import { lease, setup, tellingLog, turn, types } from "./_hostile-kit.ts";

describe("a client that joins late", () => {
  test("waits for the end that is being stored, instead of being sent away without one", async () => {
    const log = tellingLog();
    const { run } = setup(async () => "hi", { init: { log: { runs: log, lease } } });
    const first = mockSink();
    run.follow(first.encoder, first);
    while (!log.entries.some(({ event }) => event.type === "RUN_FINISHED")) {
      log.ack();
      await turn();
    }
    const late = mockSink();
    const seen = run.delivered;
    run.follow(late.encoder, late, seen);
    const whole = mockSink();
    run.follow(whole.encoder, whole, 0);
    await turn();
    expect(late.ended).toBe(false);
    log.ack();
    await run.done;
    await turn();
    expect(types(late.events)).toEqual(["RUN_FINISHED"]);
    expect(types(whole.events)).toEqual(types(first.events));
    expect(late.ended && whole.ended).toBe(true);
  });

  test.for([undefined, "key"])(
    "receives nothing twice that the log had before the run was notified (key %s)",
    async (key) => {
      const log = tellingLog();
      const bus = new Subject<BaseEvent>();
      const { run } = setup(() => bus, { init: { log: { runs: log, lease } } });
      const first = mockSink();
      run.follow(first.encoder, first);
      const say = (value: number): void =>
        bus.next({ type: "CUSTOM", name: "x", value } as BaseEvent);
      say(1);
      log.ack();
      await turn();
      log.ack();
      await turn();
      say(2);
      await turn();
      const late = mockSink();
      run.follow({ ...late.encoder, key }, late, 0);
      await turn();
      log.ack();
      await turn();
      bus.complete();
      for (let i = 0; i < 5; i++) {
        await turn();
        log.ack();
      }
      await run.done;
      expect(late.events).toEqual(first.events);
    },
  );

  test.for([true, false])(
    "receives one end of a run whose store failed (freed: %s)",
    async (isFreed) => {
      const log = tellingLog();
      const keep = log.close.bind(log);
      let closes = 0;
      log.close = (...args) => {
        if (closes++ === 0 || !isFreed) throw new Error("The disk is full.");
        return keep(...args);
      };
      const { run } = setup(async () => "hi", { init: { log: { runs: log, lease } } });
      const first = mockSink();
      run.follow(first.encoder, first);
      for (let i = 0; i < 5; i++) {
        log.ack();
        await turn();
      }
      await run.done;
      const late = mockSink();
      run.follow(late.encoder, late, 0);
      await turn();
      expect(types(first.events).at(-1)).toBe("RUN_ERROR");
      expect(types(late.events)).toEqual(types(first.events));
      expect(late.ended).toBe(true);
    },
  );
});
