import { expect, test } from "vitest";
import { toNodeHandler } from "../src/index.ts";

test.for<[string, unknown]>([
  ["a function", async () => "Hello"],
  ["undefined", undefined],
])("refuses %s instead of a handler, and explains how one is made", ([what, given]) => {
  expect(() => toNodeHandler(given as never)).toThrow(
    `toNodeHandler takes the handler that createAgentHandler returns, not ${what}. ` +
      "Try toNodeHandler(createAgentHandler(agent)).",
  );
});
