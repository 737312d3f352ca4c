import { mockSink } from "@holodeck/agui-testing";
import { Subject } from "rxjs";
import { describe, expect, test } from "vitest";
import type { BaseEvent } from "../src/index.ts";
import { forever, setup, turn } from "./_hostile-kit.ts";

describe("an agent", () => {
  test("is let go of after its own RUN_FINISHED, though its Observable never completes", async () => {
    const bus = new Subject<BaseEvent>();
    const sink = mockSink();
    const { run } = setup(() => bus);
    run.follow(sink.encoder, sink);
    bus.next({ type: "RUN_FINISHED", threadId: "t", runId: "r" } as BaseEvent);
    await run.done;
    await turn();
    expect(bus.observed).toBe(false);
  });

  test("is not asked for more after its own RUN_FINISHED, but finishes what it was doing", async () => {
    let said = 0;
    let saved = false;
    const sink = mockSink();
    const { run } = setup(async function* () {
      yield { type: "RUN_FINISHED", threadId: "t", runId: "r" };
      await turn();
      await turn();
      await turn();
      saved = true;
      for (; said < 1_000; said++) yield "more";
    });
    run.follow(sink.encoder, sink);
    await run.done;
    for (let i = 0; i < 20; i++) await turn();
    expect(saved).toBe(true);
    expect(said).toBe(0);
  });

  test("closes a stream that it promised and that came too late", async () => {
    let closed = false;
    let give!: (stream: AsyncIterable<string>) => void;
    const sink = mockSink();
    const { run } = setup(() => new Promise<AsyncIterable<string>>((resolve) => (give = resolve)));
    run.follow(sink.encoder, sink);
    sink.leave();
    give({
      [Symbol.asyncIterator]: () => ({
        next: forever,
        return: () => {
          closed = true;
          return Promise.resolve({ done: true, value: undefined });
        },
      }),
    });
    await run.done;
    await turn();
    expect(closed).toBe(true);
  });
});
