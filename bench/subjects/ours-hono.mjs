// `handler.fetch` through Hono: web requests and web streams.
import { createAdaptorServer } from "@hono/node-server";
import { toHonoHandler } from "@holodeck/agui-hono";
import { Hono } from "hono";
import { createSubject } from "./_ours.mjs";
import { listen } from "./_work.mjs";

export async function start() {
  const app = new Hono().all("*", toHonoHandler(await createSubject()));
  return listen(createAdaptorServer({ fetch: app.fetch }));
}
