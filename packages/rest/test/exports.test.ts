import { expect, test } from "vitest";
import * as exported from "../src/index.ts";

test("exports these names and no others", () => {
  expect(Object.keys(exported).sort()).toMatchInlineSnapshot(`
    [
      "SUPPORTED_MIME_TYPES",
      "composeMessage",
      "rest",
      "restSseEncoder",
      "slimRest",
      "slimThreads",
      "threads",
      "threadsEncoder",
    ]
  `);
});
