import { Server } from "node:net";
import { expect, test, vi } from "vitest";
import { serve } from "../src/index.ts";
import { handlerOf, replyJson } from "./_handler.ts";

test("listens on port 8000 of this machine only by default", async () => {
  const handler = handlerOf((exchange) => replyJson(exchange, "hi"));
  const { listen } = Server.prototype;
  // Asked for 8000, which may be taken; given any that is free.
  const asked = vi.spyOn(Server.prototype, "listen").mockImplementationOnce(function listenAnywhere(
    this: Server,
    ...args: unknown[]
  ) {
    return listen.apply(this, [0, ...args.slice(1)] as never);
  });
  const { close } = await serve(handler, { signals: false });
  expect(asked.mock.calls[0]?.slice(0, 2)).toEqual([8000, "127.0.0.1"]);
  asked.mockRestore();
  await close();
});
