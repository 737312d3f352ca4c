import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { effort } from "../../../scripts/test-support/effort.ts";
import { narrow, strangeTurns } from "../../core/test/_sent-back-runs.ts";
import { clients, connectClient, prepareClients } from "./_client.ts";
import { host } from "./_host.ts";

prepareClients();

const numRuns = Number(process.env.SERVER_RUNS ?? effort(40, 10));

describe.for(clients)("CopilotKit $version over $transport", ({ module, transport }) => {
  test(
    "sends back whatever it received, in a second and a third turn",
    { timeout: 600_000 },
    async () => {
      const turnsOf = new Map<string, (readonly unknown[])[]>();
      let runs = 0;
      const { url } = await host(
        {
          async *agent({ threadId }) {
            runs++;
            yield* (turnsOf.get(threadId)?.shift() ?? []) as Iterable<string>;
          },
        },
        { limits: narrow },
      );
      const client = await connectClient(module, url, { transport });
      let count = 0;
      const check = async (turns: readonly (readonly unknown[])[]): Promise<void> => {
        const threadId = `t-${++count}`;
        turnsOf.set(threadId, [...turns]);
        const agent = client.open(threadId);
        agent.setState({});
        runs = 0;
        for (let turn = 0; turn < 3; turn++) {
          client.errors.length = 0;
          await client.say(agent, "go on");
          expect(client.errors.filter(({ message }) => message.includes("HTTP 4"))).toEqual([]);
        }
        // A frontend tool that the page does not have is answered by the client, in another run.
        expect(runs).toBeGreaterThanOrEqual(3);
      };
      await fc.assert(fc.asyncProperty(strangeTurns, check), { numRuns, endOnFailure: true });
    },
  );
});
