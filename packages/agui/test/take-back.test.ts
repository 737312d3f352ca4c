import { HttpAgent } from "@ag-ui/client";
import type { BaseEvent } from "@holodeck/agui-core";
import { silentLogger } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { HttpAgent as HttpAgent0 } from "ag-ui-client-0";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { sentBack } from "../../core/test/_sent-back.ts";
import type { SentBack } from "../../core/test/_sent-back.ts";
import { createAgentHandler } from "../src/index.ts";

const clients = [
  { version: "1.0", Client: HttpAgent },
  // Another release of the same class.
  { version: "0.0.59", Client: HttpAgent0 as unknown as typeof HttpAgent },
];

const servers: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
// The official clients write to the console what they receive.
beforeAll(() => {
  vi.spyOn(console, "warn").mockReturnValue(undefined);
  vi.spyOn(console, "error").mockReturnValue(undefined);
});
afterAll(() => void vi.restoreAllMocks());

/** A server whose agent sends the values first, and an answer in every later turn. */
async function serveFirst({ values, limits }: SentBack): Promise<string> {
  let turns = 0;
  const handler = createAgentHandler(
    async function* () {
      if (turns++ === 0) yield* values() as Iterable<string>;
      else yield `answer ${turns}`;
    },
    { logger: silentLogger, limits },
  );
  const server = await serve(handler, { port: 0 });
  servers.push({ close: () => server.close() });
  return `${server.url}/agui`;
}

async function send(
  agent: HttpAgent,
  id: string,
  content: string,
): Promise<{ end: BaseEvent | undefined }> {
  agent.addMessage({ id, role: "user", content });
  const seen: BaseEvent[] = [];
  await agent
    .runAgent({}, { onEvent: ({ event }) => void seen.push(event) })
    .catch((error: unknown) => {
      // A run that ends with RUN_ERROR rejects; a request that is refused has no events.
      if (seen.length === 0) throw error;
    });
  return { end: seen.at(-1) };
}

describe.for(clients)("HttpAgent $version", ({ Client }) => {
  test.for(sentBack)("sends back $name, in a second and a third turn", async (row) => {
    const agent = new Client({ url: await serveFirst(row) });
    const first = await send(agent, "u1", "one");
    if (row.error) {
      expect(first.end).toMatchObject({ type: "RUN_ERROR", code: row.error.code });
      expect(first.end?.message).toContain(row.error.limit);
    } else expect(first.end).toMatchObject({ type: "RUN_FINISHED" });
    for (const turn of [2, 3]) {
      const { end } = await send(agent, `u${turn}`, "more");
      expect(end).toMatchObject({ type: "RUN_FINISHED" });
      expect(agent.messages.at(-1)).toMatchObject({ role: "assistant", content: `answer ${turn}` });
    }
  });
});
