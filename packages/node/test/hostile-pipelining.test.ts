import { createAgentHandler } from "@holodeck/agui";
import { createServer } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { toNodeHandler } from "../src/index.ts";
import { listen } from "./_listen.ts";

const request = (runId: string): string => {
  const body = JSON.stringify({ threadId: runId, runId, messages: [] });
  return (
    `POST /agui HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n` +
    `content-length: ${body.length}\r\n\r\n${body}`
  );
};

test("a client that leaves aborts the runs it had asked for one behind the other", async () => {
  const aborted: string[] = [];
  let began = 0;
  let allBegan!: () => void;
  let allAborted!: () => void;
  const everyBegin = new Promise<void>((resolve) => (allBegan = resolve));
  const everyAbort = new Promise<void>((resolve) => (allAborted = resolve));
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const handler = createAgentHandler(
    async (_input, { signal, runId, emit }) => {
      void emit.text("a");
      if (++began === 3) allBegan();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      aborted.push(runId);
      if (aborted.length === 3) allAborted();
    },
    { logger: quiet },
  );
  const { port, close } = await listen(createServer(toNodeHandler(handler)));
  const socket = connect(port, "127.0.0.1");
  socket.resume();
  socket.write(request("one") + request("two") + request("three"));
  await everyBegin;
  socket.destroy();
  await everyAbort;
  expect(aborted.sort()).toEqual(["one", "three", "two"]);
  await close();
});
