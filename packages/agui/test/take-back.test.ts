import { HttpAgent } from "@ag-ui/client";
import type { Tool } from "@ag-ui/core";
import type { BaseEvent } from "@holodeck/agui-core";
import { EventType, silentLogger } from "@holodeck/agui-core";
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

const pick = { name: "pick", description: "", parameters: {} };

/** A server whose agent makes calls of the client's tool first, all in one message, and then an answer. */
async function serveCalls(count: number, limits: SentBack["limits"]): Promise<string> {
  const handler = createAgentHandler(
    function* ({ messages }) {
      if (messages.at(-1)?.role !== "user" || messages.length > 3) return yield "fine";
      for (let at = 0; at < count; at++) {
        const toolCallId = `c${at}`;
        yield {
          type: EventType.TOOL_CALL_START,
          toolCallId,
          toolCallName: pick.name,
          parentMessageId: "m",
        };
        yield { type: EventType.TOOL_CALL_END, toolCallId };
      }
    },
    { logger: silentLogger, ...(limits && { limits }) },
  );
  const server = await serve(handler, { port: 0 });
  servers.push({ close: () => server.close() });
  return `${server.url}/agui`;
}

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
  tools: Tool[] = [],
): Promise<{ end: BaseEvent | undefined }> {
  agent.addMessage({ id, role: "user", content });
  const seen: BaseEvent[] = [];
  await agent
    .runAgent({ tools }, { onEvent: ({ event }) => void seen.push(event) })
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

  test.for([3, 9, 200])(
    "sends back a message with %i calls of its tools and their results",
    async (count) => {
      const agent = new Client({ url: await serveCalls(count, { messages: 12 }) });
      for (const id of ["u1", "u2"]) agent.addMessage({ id, role: "user", content: "one" });
      const first = await send(agent, "u3", "pick", [pick]);
      expect(first.end).toMatchObject(
        count === 3 ? { type: "RUN_FINISHED" } : { type: "RUN_ERROR", code: "history-too-large" },
      );
      const calls = agent.messages.flatMap((one) =>
        one.role === "assistant" ? (one.toolCalls ?? []) : [],
      );
      for (const { id } of calls) {
        agent.addMessage({ id: `r-${id}`, role: "tool", toolCallId: id, content: "red" });
      }
      const { end } = await send(agent, "u4", "more", [pick]);
      expect(end).toMatchObject({ type: "RUN_FINISHED" });
    },
  );
});
