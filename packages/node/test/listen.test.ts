import type { RequestListener } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../src/index.ts";
import type { Listening } from "../src/index.ts";

const hello: RequestListener = (_req, res) => void res.end("hi");

async function start(host: string, port = 0): Promise<Listening> {
  const listening = await listen(hello, { port, host });
  onTestFinished(() => void listening.server.close());
  return listening;
}

test("answers at the address that it returns, and disconnects slow clients", async () => {
  const { url, port, server } = await start("127.0.0.1");
  expect(url).toBe(`http://127.0.0.1:${port}`);
  const response = await fetch(url, { headers: { connection: "close" } });
  expect(await response.text()).toBe("hi");
  expect([server.headersTimeout, server.requestTimeout]).toEqual([10_000, 60_000]);
});

test("names this machine when it listens on every interface", async () => {
  const { url, port } = await start("0.0.0.0");
  expect(url).toBe(`http://localhost:${port}`);
});

test("rejects with Node's error when the port is taken", async () => {
  const { port } = await start("127.0.0.1");
  await expect(start("127.0.0.1", port)).rejects.toMatchObject({ code: "EADDRINUSE", port });
});
