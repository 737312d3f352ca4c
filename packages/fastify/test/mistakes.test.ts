import { expect, test } from "vitest";
import { toFastifyPlugin } from "../src/index.ts";

test.for<[string, unknown]>([
  ["a function", async () => "Hello"],
  ["undefined", undefined],
])("refuses %s instead of a handler, and explains how one is made", ([what, given]) => {
  expect(() => toFastifyPlugin(given as never)).toThrow(
    `toFastifyPlugin takes the handler that createAgentHandler returns, not ${what}. ` +
      "Try toFastifyPlugin(createAgentHandler(agent)).",
  );
});
