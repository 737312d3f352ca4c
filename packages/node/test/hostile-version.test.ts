import { createAgentHandler } from "@holodeck/agui";
import { createServer } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { uncaughtDuring } from "../../core/test/_uncaught.ts";
import { toNodeHandler } from "../src/index.ts";
import { listen } from "./_listen.ts";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const body = JSON.stringify({ threadId: "t", messages: [] });
const run =
  `POST /agui HTTP/2.0\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n` +
  `content-length: ${body.length}\r\n\r\n${body}`;

test.for([
  ["a page", "GET /health HTTP/2.0\r\nhost: localhost\r\nconnection: close\r\n\r\n", '"status"'],
  ["a run", run, "RUN_FINISHED"],
  [
    "a path that is not there",
    "GET /none HTTP/2.0\r\nhost: x\r\nconnection: close\r\n\r\n",
    "not-found",
  ],
] as const)(
  "a request for %s that claims HTTP/2.0 in its first line is answered, and ends nothing",
  async ([, request, expected]) => {
    const handler = createAgentHandler(async () => "ok", { logger: quiet });
    const { port, close } = await listen(createServer(toNodeHandler(handler)));
    let text = "";
    const uncaught = await uncaughtDuring(async () => {
      const socket = connect(port, "127.0.0.1").setEncoding("utf8");
      socket.on("data", (chunk: string) => (text += chunk)).on("error", () => undefined);
      socket.write(request);
      await new Promise((resolve) => socket.once("close", resolve));
    });
    await close();
    expect(uncaught).toEqual([]);
    expect(text).toContain(expected);
  },
);
