import { mockSink } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { mapEvents } from "../src/index.ts";
import type { RunContext } from "../src/index.ts";
import { forever, setup, turn } from "./_hostile-kit.ts";
import { uncaughtDuring } from "./_uncaught.ts";

describe("an agent's abort listener", () => {
  const causes: Record<string, (context: RunContext) => void> = {
    "its client left": () => {},
    "it failed by its own word": ({ emit }) =>
      void emit.event({ type: "RUN_ERROR", message: "no" } as never),
  };
  for (const [cause, act] of Object.entries(causes)) {
    for (const layers of [0, 1]) {
      test(`may speak when ${cause}, behind ${layers} middleware, without ending the process`, async () => {
        let heard = 0;
        const sink = mockSink();
        const { run } = setup(
          async (_input, context) => {
            const { emit, signal, state, session } = context;
            signal.addEventListener("abort", () => {
              heard++;
              void emit.text("bye");
              void state.set({ a: 1 });
              session.set("a", 1);
            });
            act(context);
            await forever();
          },
          { init: { middleware: layers === 0 ? [] : [mapEvents((event) => event)] } },
        );
        const uncaught = await uncaughtDuring(async () => {
          run.follow(sink.encoder, sink);
          await turn();
          sink.leave();
        });
        expect(uncaught).toEqual([]);
        expect(heard).toBe(1);
        expect(sink.text).toBe("");
      });
    }
  }
});
