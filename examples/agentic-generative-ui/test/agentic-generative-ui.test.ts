import { clients, finished, started, text } from "@holodeck/example-shared";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { start } from "../server.ts";

let server: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  server = await start(0);
});
afterAll(() => server.close());

const plan = ["Look up the route", "Book the train", "Reserve a hotel room", "Pack the bags"];
const all = (status: string) => ({ steps: plan.map((description) => ({ description, status })) });

const run = [
  started,
  { type: "STATE_SNAPSHOT", snapshot: all("pending") },
  ...plan.map((_, index) => ({
    type: "STATE_DELTA",
    delta: [{ op: "replace", path: `/steps/${index}/status`, value: "completed" }],
  })),
  ...text("All 4 steps are done."),
  finished,
];

describe.for(clients)("agentic generative UI with $name", (client) => {
  test("shows a plan and ticks off its steps one by one", async () => {
    const chat = client.open(`${server.url}/agui`);
    expect(await chat.send("Plan my journey")).toMatchObject(run);
    expect(chat.contentType).toBe(client.contentType);
    expect(chat.state).toEqual(all("completed"));
    expect(chat.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", content: "All 4 steps are done." },
    ]);
  });

  test("starts again from a fresh plan on the same thread", async () => {
    const chat = client.open(`${server.url}/agui`);
    await chat.send("Plan my journey");
    expect(await chat.send("And once more")).toMatchObject(run);
    expect(chat.state).toEqual(all("completed"));
  });
});
