import { mockSink } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { mapEvents } from "../src/index.ts";
import { broken, setup, turn } from "./_hostile-kit.ts";
import { uncaughtDuring } from "./_uncaught.ts";

describe("a hostile logger", () => {
  test.for([0, 1])("does not keep a run from its end, behind %i middleware", async (layers) => {
    const sink = mockSink();
    const logger = { debug: broken, info: broken, warn: broken, error: broken };
    const { run } = setup(
      async function* () {
        yield { type: "TEXT_MESSAGE_CONTENT", messageId: "never opened", delta: "x" };
        throw new Error("agent");
      },
      { logger, init: { middleware: layers === 0 ? [] : [mapEvents((event) => event)] } },
    );
    const uncaught = await uncaughtDuring(async () => {
      run.follow(sink.encoder, sink);
      for (let i = 0; i < 5; i++) await turn();
    });
    expect(uncaught).toEqual([]);
    expect(sink.error?.code).toBe("agent-error");
    expect(sink.ended).toBe(true);
  });
});
