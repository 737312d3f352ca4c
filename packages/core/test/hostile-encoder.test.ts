import { mockSink } from "@holodeck/agui-testing";
import { Subject } from "rxjs";
import { describe, expect, test } from "vitest";
import { replayReply } from "../src/internal.ts";
import type { BaseEvent, Encoder, RunLog } from "../src/index.ts";
import { broken, setup, turn } from "./_hostile-kit.ts";
import { uncaughtDuring } from "./_uncaught.ts";

describe("a hostile encoder", () => {
  const parts = ["open", "encode", "keepAlive", "close"] as const;

  test.for(parts)("costs its own client the stream and no other: %s", async (part) => {
    const sink = mockSink();
    const other = mockSink();
    const { run, clock } = setup(
      async function* () {
        yield "a";
        await new Promise<void>((resolve) => clock.setTimeout(resolve, 100));
        yield "b";
      },
      { heartbeatMs: 20 },
    );
    const encoder: Encoder = { ...sink.encoder, key: `bad ${part}`, [part]: broken };
    const uncaught = await uncaughtDuring(async () => {
      run.follow(other.encoder, other);
      expect(() => run.follow(encoder, sink)).not.toThrow();
      await turn();
      await clock.advance(50);
      await clock.advance(50);
      await clock.advance(50);
    });
    expect(uncaught).toEqual([]);
    await run.done;
    await clock.advance(50);
    await run.idle;
    expect(other.text).toBe("ab");
    expect(other.ended).toBe(true);
    expect(sink.ended).toBe(false);
    expect(clock.pending).toBe(0);
  });

  test("does not break the server when its client reads on", async () => {
    const sink = mockSink({ stallAfter: 1 });
    const bus = new Subject<BaseEvent>();
    const { run } = setup(() => bus);
    let calls = 0;
    const encoder: Encoder = {
      ...sink.encoder,
      encode: (entry) => (++calls > 2 ? broken() : sink.encoder.encode(entry)),
    };
    run.follow(encoder, sink);
    for (let i = 0; i < 5; i++) {
      bus.next({ type: "CUSTOM", name: "x", value: i } as BaseEvent);
      await turn();
    }
    expect(() => sink.resume()).not.toThrow();
    expect((await run.done).error).toBeUndefined();
    expect(run.status).toBe("cancelled");
  });

  test("does not break a replay", async () => {
    const { settings } = setup(async () => {});
    const sink = mockSink();
    const encoder: Encoder = { ...sink.encoder, open: broken };
    const runs = { async *follow() {} } as unknown as RunLog;
    const record = {
      principal: "",
      threadId: "t",
      runId: "r",
      format: 1 as const,
      agentId: "a",
      status: "finished" as const,
      first: 1,
      last: 3,
    };
    const uncaught = await uncaughtDuring(() => {
      replayReply({ encoder }, { runs, record, from: 0, settings }).stream!.attach(sink);
    });
    expect(uncaught).toEqual([]);
    expect(sink.ended).toBe(false);
  });
});
