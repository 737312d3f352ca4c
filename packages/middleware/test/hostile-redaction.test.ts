import { runAgent, scriptedAgent } from "@holodeck/agui-testing";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redact } from "../src/index.ts";
import { redactSecrets } from "../src/redact/redact-secrets.ts";
import { growth } from "./_growth.ts";

test("takes four times as long for a text of half tokens that is four times as long", async () => {
  const redactAll = (amount: number): void => {
    const text = "eyJ-".repeat(amount);
    expect(redactSecrets(text)).toBe(text);
  };
  expect(await growth(redactAll)).toBeLessThan(9);
});

test.for([
  "eyJhbGciOi.eyJzdWIiOi.c2ln",
  "token=eyJhbGciOi.eyJzdWIiOi.c2ln",
  "(eyJhbGciOi.eyJzdWIiOi.",
  "user-token-eyJhbGciOi.eyJzdWIiOi.c2ln",
])("still finds the token in %s", (text) => {
  expect(redactSecrets(text)).not.toContain("eyJ");
});

describe("a credential of any length, in pieces of any size", () => {
  const letters = (min: number, max: number): fc.Arbitrary<string> =>
    fc
      .tuple(fc.constantFrom("x", "9Ab", "q-Z_7"), fc.integer({ min, max }))
      .map(([part, length]) => part.repeat(length).slice(0, length));
  const blanks = fc
    .tuple(fc.constantFrom(" ", "\t", " \n"), fc.integer({ min: 1, max: 120 }))
    .map(([blank, length]) => blank.repeat(length).slice(0, length));
  const credentials = fc.oneof(
    fc
      .tuple(letters(1, 256), letters(1, 256))
      .map(([user, password]) => `postgres://${user}:${password}@db.internal/x`),
    fc.tuple(blanks, letters(8, 300)).map(([gap, token]) => `Authorization:${gap}${token}`),
    fc
      .tuple(blanks, blanks, letters(8, 300))
      .map(([a, b, token]) => `authorization${a}:${b}Bearer ${token}`),
    fc
      .tuple(blanks, blanks, letters(8, 300))
      .map(([a, b, token]) => `Authorization:${a}Basic${b}${token}`),
    fc.tuple(blanks, letters(8, 300)).map(([gap, token]) => `Bearer${gap}${token}`),
    fc
      .tuple(letters(6, 900), letters(6, 3000), letters(0, 600))
      .map(([head, body, end]) => `eyJ${head}.${body}.${end}`),
    letters(20, 40_000).map(
      (body) => `-----BEGIN RSA PRIVATE KEY-----\n${body}\n-----END RSA PRIVATE KEY-----`,
    ),
    letters(6, 20_000).map((body) => `sk-${body}`),
  );
  const words = fc.constantFrom(
    " then ",
    " see https://example.com/a:b@c ",
    ". ",
    " Bearer of ",
    "",
  );
  const texts = fc
    .array(fc.tuple(words, credentials), { minLength: 1, maxLength: 3 })
    .map((parts) => `${parts.flat().join("")} end`);

  test("is removed as it is from the whole text", async () => {
    await fc.assert(
      fc.asyncProperty(texts, fc.constantFrom(1, 10, 63, 700), async (text, size) => {
        const whole = await runAgent(scriptedAgent([text]), { middleware: [redact()] });
        const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g"))!;
        const run = await runAgent(scriptedAgent(pieces), { middleware: [redact()] });
        expect(run.text).toBe(whole.text);
      }),
      { numRuns: 60 },
    );
  });

  test.for([
    [
      "the password of a URL",
      `postgres://user:${"p".repeat(98)}@host`,
      "postgres://[redacted]@host",
    ],
    ["a header with blanks", `Authorization:${" ".repeat(80)}tok.123`, "[redacted]"],
    [
      "a key of 40 KB",
      `-----BEGIN PRIVATE KEY-----\n${"A1b2".repeat(10_000)}\n-----END PRIVATE KEY-----`,
      "[redacted]",
    ],
  ] as const)("%s never reaches a client", async ([, secret, shown]) => {
    for (const size of [1, 10]) {
      const pieces = `It is ${secret} now`.match(new RegExp(`[\\s\\S]{1,${size}}`, "g"))!;
      const run = await runAgent(scriptedAgent(pieces), { middleware: [redact()] });
      expect(run.text).toBe(`It is ${shown} now`);
    }
  });
});
