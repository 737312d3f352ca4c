import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { effort } from "../../../scripts/test-support/effort.ts";
import { narrow, strangeTurns } from "../../core/test/_sent-back-runs.ts";
import { createChat, sdks, serveChat } from "./_chat.ts";

const numRuns = Number(process.env.SERVER_RUNS ?? effort(60, 15));
const newest = sdks.filter(({ name }) => !name.endsWith(".0.0"));

describe.for(newest)("Chat of AI SDK $name", (sdk) => {
  test(
    "sends back whatever it received, in a second and a third turn",
    { timeout: 600_000 },
    async () => {
      const turnsOf = new Map<string, (readonly unknown[])[]>();
      const { url } = await serveChat(
        async function* ({ threadId }) {
          yield* (turnsOf.get(threadId)?.shift() ?? []) as Iterable<string>;
        },
        { sdkVersion: sdk.major },
        { limits: narrow },
      );
      let count = 0;
      const check = async (turns: readonly (readonly unknown[])[]): Promise<void> => {
        const id = `chat-${++count}`;
        turnsOf.set(id, [...turns]);
        const statuses: number[] = [];
        const chat = createChat(sdk, {
          id,
          api: `${url}/api/chat`,
          fetch: async (at: string, init: RequestInit) => {
            const response = await fetch(at, init);
            statuses.push(response.status);
            return response;
          },
        });
        for (let turn = 0; turn < 3; turn++) await chat.chat.sendMessage({ text: "go on" });
        expect(statuses).toEqual([200, 200, 200]);
      };
      await fc.assert(fc.asyncProperty(strangeTurns, check), { numRuns, endOnFailure: true });
    },
  );
});
