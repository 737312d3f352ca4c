import { HttpAgent } from "@ag-ui/client";
import { HttpAgent as OlderHttpAgent } from "ag-ui-client-0";
import type { AgentLike } from "@holodeck/agui-core";
import { expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandler } from "../src/index.ts";
import { uncaughtDuring } from "../../core/test/_uncaught.ts";
import { deferred, eventsOf, memoryLogger, post, typesOf } from "./_helpers.ts";

/** An agent elsewhere that says a word and then waits for its end. */
function upstream(): { handler: AgentHandler; ended: Promise<string>; count: () => number } {
  const ended = deferred<string>();
  let going = 0;
  const handler = createAgentHandler(
    async (_input, { signal, runId, emit }) => {
      void emit.text("a");
      if (runId.startsWith("short")) return;
      going++;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      going--;
      ended.resolve(runId);
    },
    { logger: memoryLogger() },
  );
  return { handler, ended: ended.promise, count: () => going };
}

test.for([
  ["1.0", HttpAgent],
  ["0.0.59", OlderHttpAgent],
] as const)(
  "a gateway to an HttpAgent %s passes on which client leaves, and no other",
  async ([, Agent]) => {
    const { handler, ended, count } = upstream();
    const agent = new Agent({ url: "http://up.local/agui" });
    agent.fetch = (url, init) => handler.fetch(new Request(url, init));
    const gateway = createAgentHandler(agent as unknown as AgentLike, { logger: memoryLogger() });

    const uncaught = await uncaughtDuring(async () => {
      const [one, two] = await Promise.all(
        ["one", "two"].map((runId) =>
          gateway.fetch(post({ threadId: runId, runId, messages: [] })),
        ),
      );
      const readers = [one!.body!.getReader(), two!.body!.getReader()];
      for (const reader of readers) await reader.read();
      while (count() < 2) await new Promise((resolve) => setImmediate(resolve));
      await readers[0]!.cancel();
      expect(await ended).toBe("one");
      expect(count()).toBe(1);
      const short = await gateway.fetch(post({ threadId: "s", runId: "short", messages: [] }));
      expect(typesOf(await eventsOf(short)).at(-1)).toBe("RUN_FINISHED");
      await gateway.close({ timeoutMs: 50 });
      await handler.close({ timeoutMs: 50 });
    });
    expect(uncaught).toEqual([]);
    expect(count()).toBe(0);
  },
);
