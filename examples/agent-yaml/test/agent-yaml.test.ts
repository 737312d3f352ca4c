import { clients } from "@holodeck/example-shared";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { start } from "../server.ts";

let server: Awaited<ReturnType<typeof start>>;
// The model's SDK and the MCP server are loaded here, which takes its time on busy cores.
beforeAll(async () => {
  server = await start(0);
});
afterAll(() => server.close());

describe.for(clients)("an agent in a file with $name", (client) => {
  const open = () => client.open(`${server.url}/agui`);

  test("answers", async () => {
    const chat = open();
    await chat.send("Good morning");
    expect(chat.messages.at(-1)).toMatchObject({ content: "You said: Good morning" });
  });

  test.for([
    ['read_note {"title": "key"}', "read_note: The key is under the mat."],
    ['count_words {"text": "one two three"}', "count_words: 3"],
  ] as const)("runs its tools: %s", async ([question, answer]) => {
    const chat = open();
    await chat.send(question);
    expect(chat.messages.at(-1)).toMatchObject({ role: "assistant", content: answer });
  });

  test("does not offer what is not allowed", async () => {
    const chat = open();
    await chat.send("burn_notes");
    expect(chat.messages.at(-1)).toMatchObject({ content: "You said: burn_notes" });
  });

  test("lets the page run a tool", async () => {
    const chat = open();
    const asked = await chat.send("pick_date");
    const call = asked.find(({ type }) => type === "TOOL_CALL_START");
    await chat.answer(call?.toolCallId as string, "tomorrow");
    expect(chat.messages.at(-1)).toMatchObject({ content: "pick_date: tomorrow" });
  });

  // Only AG-UI 1.0 has a word for it.
  test.runIf(client.speaks1)("asks a person before a letter is sent", async () => {
    const chat = open();
    const asked = await chat.send('send_letter {"to": "Ann", "text": "Hello"}');
    const { outcome } = asked.at(-1) as unknown as { outcome: { interrupts: { id: string }[] } };
    await chat.resume(outcome.interrupts[0]!.id, { approved: true });
    expect(chat.messages.at(-1)).toMatchObject({
      content: "send_letter: The letter to Ann is on its way.",
    });
  });
});
