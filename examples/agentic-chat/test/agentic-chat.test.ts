import { clients, finished, started, text, toolCall, waitingFor } from "@holodeck/example-shared";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { start } from "../server.ts";

let server: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  server = await start(0);
});
afterAll(() => server.close());

describe.for(clients)("agentic chat with $name", (client) => {
  const tools = ["change_background"];
  const open = (options = {}) => client.open(`${server.url}/agui`, options);

  test("streams a text answer", async () => {
    const chat = open({ tools });
    const events = await chat.send("Good morning");
    expect(events).toMatchObject([
      started,
      ...text("You ", "said: ", "Good ", "morning"),
      finished,
    ]);
    expect(chat.contentType).toBe(client.contentType);
    expect(chat.messages).toMatchObject([
      { role: "user", content: "Good morning" },
      { role: "assistant", content: "You said: Good morning" },
    ]);
  });

  test("calls a tool of the page, and goes on when the page has answered", async () => {
    const chat = open({ tools });
    const asked = await chat.send("Make the background blue, please");
    const id = asked[1]?.toolCallId as string;
    expect(asked).toMatchObject([
      started,
      ...toolCall("change_background", '{"background":"blue"}'),
      waitingFor(client, id),
    ]);

    const answered = await chat.answer(id, "The background is blue.");
    expect(answered).toMatchObject([
      started,
      ...text("Done! ", "Do ", "you ", "like ", "the ", "new ", "background?"),
      finished,
    ]);
    expect(answered[0]?.threadId).toBe(asked[0]?.threadId);
    expect(chat.messages).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        toolCalls: [
          {
            id,
            type: "function",
            function: { name: "change_background", arguments: '{"background":"blue"}' },
          },
        ],
      },
      { role: "tool", toolCallId: id, content: "The background is blue." },
      { role: "assistant", content: "Done! Do you like the new background?" },
    ]);
  });

  test("answers the message after a tool, not the tool again", async () => {
    const chat = open({ tools });
    const asked = await chat.send("A green background");
    await chat.answer(asked[1]?.toolCallId as string, "The background is green.");
    const events = await chat.send("Yes");
    expect(events).toMatchObject([started, ...text("You ", "said: ", "Yes"), finished]);
    expect(chat.messages).toHaveLength(6);
  });

  test("answers with a text when the page offers no such tool", async () => {
    const chat = open();
    await chat.send("A red background");
    expect(chat.messages.at(-1)).toMatchObject({
      role: "assistant",
      content: "This page has no background to change.",
    });
  });
});
