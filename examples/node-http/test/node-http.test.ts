import { clients, finished, started, text } from "@holodeck/example-shared";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { start } from "../server.ts";

let server: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  server = await start(0);
});
afterAll(() => server.close());

describe("a server of node:http", () => {
  test.for(clients)("serves the agent to $name", async (client) => {
    const chat = client.open(`${server.url}/agui`);
    expect(await chat.send("hi")).toMatchObject([started, ...text("You said: ", "hi"), finished]);
    expect(chat.contentType).toBe(client.contentType);
    expect(chat.messages.at(-1)).toMatchObject({ role: "assistant", content: "You said: hi" });
  });

  test("still answers with its own page and its own 404", async () => {
    const page = await fetch(server.url);
    expect([page.status, await page.text()]).toEqual([200, "The page of this server.\n"]);
    const missing = await fetch(`${server.url}/nothing`);
    expect([missing.status, await missing.text()]).toEqual([404, "Not here.\n"]);
  });

  test("closes while a client keeps its connection", async () => {
    const other = await start(0);
    await (await fetch(other.url)).text();
    await other.close();
    await expect(fetch(other.url)).rejects.toThrow();
  });
});
