import { HttpAgent } from "@ag-ui/client";
import { silentLogger } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { HttpAgent as HttpAgent0 } from "ag-ui-client-0";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { effort } from "../../../scripts/test-support/effort.ts";
import { narrow, strangeTurns } from "../../core/test/_sent-back-runs.ts";
import { createAgentHandler } from "../src/index.ts";

const numRuns = Number(process.env.SERVER_RUNS ?? effort(100, 25));

const clients = [
  { version: "1.0", Client: HttpAgent, canResume: true },
  // Another release of the same class.
  { version: "0.0.59", Client: HttpAgent0 as unknown as typeof HttpAgent, canResume: false },
];

let url = "";
let close: () => Promise<unknown>;
const turnsOf = new Map<string, (readonly unknown[])[]>();

beforeAll(async () => {
  vi.spyOn(console, "warn").mockReturnValue(undefined);
  vi.spyOn(console, "error").mockReturnValue(undefined);
  const handler = createAgentHandler(
    async function* ({ threadId }) {
      yield* (turnsOf.get(threadId)?.shift() ?? []) as Iterable<string>;
    },
    { logger: silentLogger, limits: narrow },
  );
  const server = await serve(handler, { port: 0, signals: false });
  ({ close } = server);
  url = `${server.url}/agui`;
});
afterAll(async () => {
  await close();
  vi.restoreAllMocks();
});

interface Seen {
  readonly type: string;
  readonly outcome?: { readonly interrupts?: readonly { readonly id: string }[] };
}

describe.for(clients)("HttpAgent $version", ({ Client, canResume }) => {
  test("sends back whatever it received, in a second and a third turn", { timeout: 600_000 }, () =>
    fc.assert(
      fc.asyncProperty(strangeTurns, async (turns) => {
        const agent = new Client({ url });
        turnsOf.set(agent.threadId, [...turns]);
        let asked: readonly { readonly id: string }[] = [];
        for (const turn of [1, 2, 3]) {
          agent.addMessage({ id: `turn-${turn}`, role: "user", content: "go on" });
          const resume = asked.map(({ id }) => ({ interruptId: id, status: "cancelled" as const }));
          let last: Seen | undefined;
          const options = canResume && resume.length > 0 ? { resume } : {};
          await agent
            .runAgent(options, { onEvent: ({ event }) => void (last = event as Seen) })
            .catch((error: unknown) => {
              // A run that ends with RUN_ERROR rejects; a request that is refused has no events.
              if (last === undefined || last.type !== "RUN_ERROR") throw error;
            });
          expect(["RUN_FINISHED", "RUN_ERROR"]).toContain(last?.type);
          asked = last?.outcome?.interrupts ?? [];
        }
        turnsOf.delete(agent.threadId);
      }),
      { numRuns, endOnFailure: true },
    ),
  );
});
