import { mockSink } from "@holodeck/agui-testing";
import { describe, expect, test, vi } from "vitest";
import { AgentError } from "../src/index.ts";
import { lease, setup, tellingLog, turn, types } from "./_hostile-kit.ts";

describe("a run without a client", () => {
  test("ends with its time", async () => {
    const began = vi.fn();
    const { run, clock } = setup(began, { limits: { runTimeoutMs: 100 } });
    await clock.advance(200);
    expect(run.status).toBe("failed");
    expect(began).not.toHaveBeenCalled();
    expect(clock.pending).toBe(0);
  });

  test("does not call its agent when it was stopped before its client came", async () => {
    const log = tellingLog();
    const began = vi.fn();
    const { run } = setup(began, { init: { log: { runs: log, lease } } });
    run.abort(new AgentError("stopped", "Stopped."));
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    for (let i = 0; i < 5; i++) {
      log.ack();
      await turn();
    }
    await run.done;
    expect(began).not.toHaveBeenCalled();
    expect(types(sink.events)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  });
});
