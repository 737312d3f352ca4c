import { clients, finished, started, text } from "@holodeck/example-shared";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { start } from "../server.ts";

let server: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  server = await start(0);
});
afterAll(() => server.close());

describe("a Hono server", () => {
  test.for(clients)("serves the agent under its prefix to $name", async (client) => {
    const chat = client.open(`${server.url}/api/agui`);
    expect(await chat.send("hi")).toMatchObject([started, ...text("You said: ", "hi"), finished]);
    expect(chat.contentType).toBe(client.contentType);
    expect(chat.messages.at(-1)).toMatchObject({ role: "assistant", content: "You said: hi" });
  });

  test("still answers with its own page, its own 404 and its own middleware", async () => {
    const page = await fetch(server.url);
    expect([page.status, await page.text()]).toEqual([200, "The page of this server."]);
    const missing = await fetch(`${server.url}/api/nothing`);
    expect([missing.status, await missing.text()]).toEqual([404, "404 Not Found"]);
    const info = await fetch(`${server.url}/api/agui/info`);
    expect([info.status, info.headers.get("x-served-by")]).toEqual([200, "hono"]);
  });
});
