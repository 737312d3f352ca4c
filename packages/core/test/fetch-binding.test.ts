import { testBinding } from "@holodeck/agui-testing/vitest";
import { toFetch } from "../src/index.ts";

testBinding("toFetch", async (handler) => ({
  url: "http://example.test",
  fetch: toFetch((exchange) => handler.handle(exchange)),
  close: async () => undefined,
}));
