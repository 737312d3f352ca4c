import { clients, finished, started, text, toolCall, waitingFor } from "@holodeck/example-shared";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { start } from "../server.ts";

let server: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  server = await start(0);
});
afterAll(() => server.close());

const steps = ["Dig a hole", "Plant the tree", "Water it"].map((description) => ({
  description,
  status: "enabled",
}));

describe.for(clients)("human in the loop with $name", (client) => {
  const propose = async () => {
    const chat = client.open(`${server.url}/agui`, { tools: ["generate_task_steps"] });
    const events = await chat.send("Plant a tree");
    return { chat, events, id: events[1]?.toolCallId as string };
  };

  test("streams the steps of its plan and waits for a person", async () => {
    const { chat, events, id } = await propose();
    const [first, second, third] = steps.map((step) => JSON.stringify(step));
    expect(events).toMatchObject([
      started,
      ...toolCall("generate_task_steps", '{"steps":[', first!, `,${second}`, `,${third}`, "]}"),
      waitingFor(client, id),
    ]);
    expect(chat.contentType).toBe(client.contentType);
    const call = {
      id,
      function: { name: "generate_task_steps", arguments: JSON.stringify({ steps }) },
    };
    expect(chat.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", toolCalls: [call] },
    ]);
  });

  test("goes on with the steps that were left enabled", async () => {
    const { chat, events: asked, id } = await propose();
    const chosen = [...steps.slice(0, 2), { ...steps[2], status: "disabled" }];
    const events = await chat.answer(id, { accepted: true, steps: chosen });
    const reply = "Doing 2 of 3 steps: Dig a hole, Plant the tree.";
    expect(events).toMatchObject([started, ...text(reply), finished]);
    expect(events[0]?.threadId).toBe(asked[0]?.threadId);
    expect(chat.messages).toMatchObject([
      { role: "user" },
      { role: "assistant" },
      { role: "tool", toolCallId: id },
      { role: "assistant", content: reply },
    ]);
  });

  test.for([
    ["a no", { accepted: false }],
    ["an answer that is not JSON", "maybe"],
  ] as const)("does nothing after %s", async ([, answer]) => {
    const { chat, id } = await propose();
    const events = await chat.answer(id, answer);
    const reply = "All right, nothing is done. What shall I change?";
    expect(events).toMatchObject([started, ...text(reply), finished]);
    expect(chat.messages.at(-1)).toMatchObject({ role: "assistant", content: reply });
  });
});
