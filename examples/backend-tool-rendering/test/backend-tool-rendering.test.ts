import { clients, finished, started, text, toolCall } from "@holodeck/example-shared";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { start } from "../server.ts";

let server: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  server = await start(0);
});
afterAll(() => server.close());

const args = '{"city":"Rome"}';
const result = JSON.stringify({
  city: "Rome",
  temperature: 21,
  conditions: "sunny",
  humidity: 40,
  wind_speed: 12,
});

describe.for(clients)("backend tool rendering with $name", (client) => {
  test("streams the call, its result and a text", async () => {
    const chat = client.open(`${server.url}/agui`);
    const events = await chat.send("How is the weather in Rome?");
    const toolCallId = events[1]?.toolCallId as string;
    expect(events).toMatchObject([
      started,
      ...toolCall("get_weather", args),
      { type: "TOOL_CALL_RESULT", toolCallId, content: result, role: "tool" },
      ...text("It is 21 degrees in Rome."),
      finished,
    ]);
    expect(chat.contentType).toBe(client.contentType);
    // The server has answered its own call: the page owes nothing.
    expect(events.at(-1)).not.toHaveProperty("outcome.pendingToolCallIds");
    expect(chat.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", toolCalls: [{ id: toolCallId, function: { name: "get_weather" } }] },
      { role: "tool", toolCallId, content: result },
      { role: "assistant", content: "It is 21 degrees in Rome." },
    ]);
  });

  test("gives the same call and result as one snapshot of the messages", async () => {
    const chat = client.open(`${server.url}/agui`, { agentId: "snapshot" });
    const events = await chat.send("How is the weather in Rome?");
    const id = `call-${events[0]?.runId as string}`;
    const messages = [
      { id: "user-1", role: "user", content: "How is the weather in Rome?" },
      {
        role: "assistant",
        toolCalls: [{ id, type: "function", function: { name: "get_weather", arguments: args } }],
      },
      { role: "tool", toolCallId: id, content: result },
    ];
    expect(events).toMatchObject([started, { type: "MESSAGES_SNAPSHOT", messages }, finished]);
    expect(chat.contentType).toBe(client.contentType);
    expect(chat.messages).toMatchObject(messages);
  });
});
