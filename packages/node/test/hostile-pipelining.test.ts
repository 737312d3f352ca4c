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

test("runs that a client asks for one behind the other begin one after the other, and none when it has left", async () => {
  const events: string[] = [];
  const waiting = new Map<string, () => void>();
  const reached = (event: string): Promise<void> =>
    events.includes(event)
      ? Promise.resolve()
      : new Promise<void>((resolve) => waiting.set(event, resolve));
  const note = (event: string): void => {
    events.push(event);
    waiting.get(event)?.();
  };
  let finish!: () => void;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const handler = createAgentHandler(
    async (_input, { signal, runId, emit }) => {
      void emit.text("a");
      note(`${runId} began`);
      if (runId === "one") return finished;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      note(`${runId} aborted`);
    },
    { logger: quiet },
  );
  const { port, close } = await listen(createServer(toNodeHandler(handler)));
  const socket = connect(port, "127.0.0.1");
  socket.resume();
  socket.write(request("one") + request("two") + request("three"));
  await reached("one began");
  expect(events).toEqual(["one began"]);
  finish();
  await reached("two began");
  socket.destroy();
  await reached("two aborted");
  await close();
  expect(events).toEqual(["one began", "two began", "two aborted"]);
});
