import { HttpAgent } from "@ag-ui/client";
import { ChatClient, fetchServerSentEvents } from "@tanstack/ai-client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { resumable } from "../src/index.ts";
import { answer, endAll, start, watchRejections } from "./_server.ts";

afterEach(endAll);

beforeEach(watchRejections);

const whole = answer.join("");

interface Client {
  readonly name: string;
  ask(base: string): Promise<string>;
}

const clients: readonly Client[] = [
  {
    name: "HttpAgent with resumable(fetch)",
    async ask(base) {
      const fetching = resumable(fetch, { delayMs: 1 });
      const agent = new HttpAgent({ url: `${base}/agui`, threadId: "t", fetch: fetching });
      agent.addMessage({ id: "q", role: "user", content: "hi" });
      await agent.runAgent();
      return agent.messages[1]?.content as string;
    },
  },
  {
    name: "TanStack AI as it is",
    async ask(base) {
      const connection = fetchServerSentEvents(`${base}/agui`, { reconnect: { delayMs: 1 } });
      const client = new ChatClient({ connection, threadId: "t" });
      await client.sendMessage("hi");
      const parts = client.getMessages()[1]?.parts ?? [];
      return parts.map((part) => (part.type === "text" ? part.content : "")).join("");
    },
  },
];

describe.for(clients)("$name, cut in mid-answer", (client) => {
  test.for([["continue"], [{ graceMs: 10_000 }]] as const)(
    "receives the whole answer of one run with onDisconnect: %j",
    async ([onDisconnect]) => {
      const server = await start(undefined, { onDisconnect });
      const proxy = await server.cutting(1500, 900, 1000);
      expect(await client.ask(proxy.url)).toBe(whole);
      expect(proxy.cuts()).toBe(3);
      expect(server.runs).toHaveLength(1);
    },
  );

  test('receives the end of a stopped run with onDisconnect: "abort", and no second run', async () => {
    let wasStopped = false;
    let runs = 0;
    const server = await start(
      async function* (_, { signal }) {
        runs++;
        yield* answer;
        // Longer than the client stays away.
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        wasStopped = true;
        yield "never sent";
      },
      { onDisconnect: "abort" },
    );
    const proxy = await server.cutting(1500);
    const text = await client.ask(proxy.url);
    expect(whole.startsWith(text)).toBe(true);
    expect([wasStopped, runs]).toEqual([true, 1]);
  });
});
