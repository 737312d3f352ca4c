import { testBinding } from "@holodeck/agui-testing/vitest";
import { createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { toNodeHandler } from "../src/index.ts";
import { listen } from "./_listen.ts";

testBinding("node, HTTP/1.1", async (handler) => {
  const { url, close } = await listen(createServer(toNodeHandler(handler)));
  return { url, close };
});

testBinding("node, HTTP/2", async (handler) => {
  const { url, close } = await listen(createHttp2Server(toNodeHandler(handler)));
  return { url, close, http2: true };
});
