import { expect, test } from "vitest";
import { redactSecrets } from "../src/redact-secrets.ts";

test("does not take a long text of half tokens as a reason to stand still", () => {
  const began = performance.now();
  const text = "eyJ-".repeat(32_000);
  expect(redactSecrets(text)).toBe(text);
  expect(performance.now() - began).toBeLessThan(2_000);
});

test.for([
  "eyJhbGciOi.eyJzdWIiOi.c2ln",
  "token=eyJhbGciOi.eyJzdWIiOi.c2ln",
  "(eyJhbGciOi.eyJzdWIiOi.",
  "user-token-eyJhbGciOi.eyJzdWIiOi.c2ln",
])("still finds the token in %s", (text) => {
  expect(redactSecrets(text)).not.toContain("eyJ");
});
