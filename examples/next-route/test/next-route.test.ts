import { clients, finished, started, text } from "@holodeck/example-shared";
import { describe, expect, test } from "vitest";
import { GET, POST } from "../app/api/[...path]/route.ts";

const site = "https://shop.example";
// What Next.js passes beside the request.
const route = (path: string) => ({ params: Promise.resolve({ path: path.split("/") }) });

describe("a route of Next.js", () => {
  test.for(clients)("runs the agent for $name", async (client) => {
    const chat = client.open(`${site}/api/agui`, {
      fetch: (url, init) => POST(new Request(url, init), route("agui")),
    });
    expect(await chat.send("hi")).toMatchObject([started, ...text("You said: ", "hi"), finished]);
    expect(chat.contentType).toBe(client.contentType);
    expect(chat.messages.at(-1)).toMatchObject({ role: "assistant", content: "You said: hi" });
  });

  test("answers a plain request with a stream of events", async () => {
    const response = await POST(
      new Request(`${site}/api/agui`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ messages: [{ role: "user", content: "hi" }] }),
      }),
      route("agui"),
    );
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/event-stream",
    ]);
    expect(await response.text()).toMatch(/"type":"RUN_STARTED"[^]*"type":"RUN_FINISHED"/);
  });

  test("lists what it serves, and nothing else", async () => {
    const info = await GET(new Request(`${site}/api/agui/info`), route("agui/info"));
    expect(await info.json()).toMatchObject({
      routes: expect.arrayContaining(["POST /api/agui", "GET /api/agui/info"]) as unknown,
    });
    const missing = await GET(new Request(`${site}/api/nothing`), route("nothing"));
    expect(missing.status).toBe(404);
  });
});
