import type { Exchange } from "@holodeck/agui-core";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { once } from "node:events";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { toHonoHandler } from "../src/index.ts";

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: test\r\n\r\n`;

test("requests behind others of their connection are handled in turn, and not when the client has left", async () => {
  const events: string[] = [];
  const replies = new Map<string, () => void>();
  const handler = {
    handle: (exchange: Exchange): Promise<boolean> =>
      new Promise((resolve) => {
        events.push(exchange.path);
        replies.set(exchange.path, () => {
          exchange.reply(200, { "content-length": "0" }).end();
          resolve(true);
        });
      }),
  };
  let inside = 0;
  const app = new Hono()
    // As a host that counts its requests would.
    .use(async (_c, next) => {
      inside++;
      await next();
      inside--;
    })
    .use(toHonoHandler(handler));
  const server = createAdaptorServer({ fetch: app.fetch });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.resume();
  socket.write(["/1", "/2", "/3", "/4"].map(get).join(""));
  await expect.poll(() => inside).toBe(4);
  expect(events).toEqual(["/1"]);
  replies.get("/1")!();
  await expect.poll(() => events).toEqual(["/1", "/2"]);
  socket.destroy();
  // Those that waited are done with; the one that was handled is the handler's to end.
  await expect.poll(() => inside).toBe(1);
  replies.get("/2")!();
  await expect.poll(() => inside).toBe(0);
  expect(events).toEqual(["/1", "/2"]);
  server.close();
});
