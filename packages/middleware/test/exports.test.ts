import { expect, test } from "vitest";
import * as exported from "../src/index.ts";

test("exports these names and no others", () => {
  expect(Object.keys(exported).sort()).toMatchInlineSnapshot(`
    [
      "bearerAuth",
      "cors",
      "fromAguiMiddleware",
      "injectContext",
      "logging",
      "rateLimit",
      "redact",
      "runTimeout",
      "safeEqual",
      "suggestQuestions",
      "telemetry",
      "throttleDeltas",
      "toolFilter",
    ]
  `);
});
