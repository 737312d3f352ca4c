import { expect, test } from "vitest";
import { toHonoHandler } from "../src/index.ts";

test.for<[string, unknown]>([
  ["a function", async () => "Hello"],
  ["undefined", undefined],
])("refuses %s instead of a handler, and explains how one is made", ([what, given]) => {
  expect(() => toHonoHandler(given as never)).toThrow(
    `toHonoHandler takes the handler that createAgentHandler returns, not ${what}. ` +
      "Try toHonoHandler(createAgentHandler(agent)).",
  );
});

test("refuses an option it does not have", () => {
  const handler = { handle: async () => false };
  expect(() => toHonoHandler(handler, { prefx: "/api" } as never)).toThrow("Did you mean prefix?");
});
