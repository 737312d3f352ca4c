// Hono's own `streamSSE`.
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { listen, runEvents } from "./_work.mjs";

export async function start() {
  const app = new Hono();
  app.post("/agui", async (context) => {
    const input = await context.req.json();
    return streamSSE(context, async (stream) => {
      for await (const event of runEvents(input)) {
        await stream.writeSSE({ data: JSON.stringify(event) });
      }
    });
  });
  return listen(createAdaptorServer({ fetch: app.fetch }));
}
