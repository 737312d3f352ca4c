import { expect, test } from "vitest";
import { toExpressHandler } from "../src/index.ts";

test.for<[string, unknown]>([
  ["a function", async () => "Hello"],
  ["undefined", undefined],
])("refuses %s instead of a handler, and explains how one is made", ([what, given]) => {
  expect(() => toExpressHandler(given as never)).toThrow(
    `toExpressHandler takes the handler that createAgentHandler returns, not ${what}. ` +
      "Try toExpressHandler(createAgentHandler(agent)).",
  );
});
