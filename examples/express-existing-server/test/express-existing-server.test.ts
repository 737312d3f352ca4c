import { clients, finished, started, text, toolCall } from "@holodeck/example-shared";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { start } from "../server.ts";

type LogRecord = Record<string, unknown>;

let server: Awaited<ReturnType<typeof start>>;
const records: LogRecord[] = [];
const record = (fields: object, message?: string) => void records.push({ ...fields, message });

beforeAll(async () => {
  const logger = { debug: record, info: record, warn: record, error: record };
  server = await start(0, { logger });
});
afterAll(() => server.close());
beforeEach(() => {
  records.length = 0;
});

describe("an Express server with an agent", () => {
  test.for(clients)("hides a tool and leaves a valid stream for $name", async (client) => {
    const chat = client.open(`${server.url}/api/agui`);
    const events = await chat.send("Where is order 42?");
    const toolCallId = events.find(({ type }) => type === "TOOL_CALL_START")?.toolCallId;
    const content = '{"id":"42","status":"packed"}';
    expect(events).toMatchObject([
      started,
      ...text("One moment. "),
      ...toolCall("find_order", '{"id":"42"}'),
      { type: "TOOL_CALL_RESULT", toolCallId, content },
      ...text("Order 42 is packed and leaves today."),
      finished,
    ]);
    expect(chat.contentType).toBe(client.contentType);
    expect(chat.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "assistant",
      "tool",
      "assistant",
    ]);
    for (const secret of ["check_credit", "Grace", "doubtful"]) {
      expect(JSON.stringify([events, chat.messages])).not.toContain(secret);
    }
    // Nothing is left open either: the client waits for no tool.
    expect(events.at(-1)).not.toHaveProperty("outcome.pendingToolCallIds");
  });

  test("logs one record per run", async () => {
    const chat = clients[0]!.open(`${server.url}/api/agui`);
    const events = await chat.send("Hello");
    expect(records.filter(({ message }) => message === "Run finished.")).toMatchObject([
      {
        runId: events[0]?.runId,
        sessionId: events[0]?.threadId,
        endpoint: "POST /api/agui",
        outcome: "success",
        events: events.length,
      },
    ]);
  });

  test("still answers on its own routes", async () => {
    expect(await (await fetch(server.url)).text()).toBe("The shop.");
    const created = await fetch(`${server.url}/api/orders`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ items: ["tea"] }),
    });
    expect([created.status, await created.json()]).toEqual([201, { id: "42", items: ["tea"] }]);
    const missing = await fetch(`${server.url}/api/nothing`);
    expect([missing.status, await missing.json()]).toEqual([404, { error: "Not in this shop." }]);
  });
});
