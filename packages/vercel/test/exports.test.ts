import { expect, test } from "vitest";
import * as exported from "../src/index.ts";

test("exports these names and no others", () => {
  expect(Object.keys(exported).sort()).toMatchInlineSnapshot(`
    [
      "convertData",
      "convertError",
      "convertText",
      "dataStreamEncoder",
      "decodeUi",
      "decodeV4",
      "slimVercel",
      "textStreamEncoder",
      "toVercelResponse",
      "uiStreamEncoder",
      "vercel",
    ]
  `);
});
