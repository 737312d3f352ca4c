import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { composeUserMessage } from "../src/process/compose.ts";
import { FileError } from "../src/index.ts";
import { isContainer, typeOf } from "../src/extract/sniff.ts";
import { toTable } from "../src/extract/table.ts";
import { serveEcho, textOf, types, ways } from "./_serve.ts";

const marker = "\n\n[… truncated]";
const { handler, seen } = serveEcho();
afterAll(() => handler.close());

describe("the type of a file", () => {
  // Beginnings that lead into every branch, and bytes that go wrong there.
  const heads = fc.constantFrom(
    "",
    "\x89PNG\r\n\x1a\n",
    "\xff\xd8\xff",
    "GIF89a",
    "RIFF....WEBP",
    "PK\x03\x04",
    "PK\x05\x06",
    "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    "%PDF-",
    "\xff\xfe",
  );
  const tails = fc.constantFrom("", "PK\x05\x06", "PK\x01\x02", `PK\x05\x06${"\xff".repeat(18)}`);
  const bytes = fc
    .tuple(heads, fc.uint8Array({ maxLength: 80 }), tails, fc.uint8Array({ maxLength: 30 }))
    .map(([head, middle, tail, rest]) =>
      Uint8Array.from([
        ...Buffer.from(head, "latin1"),
        ...middle,
        ...Buffer.from(tail, "latin1"),
        ...rest,
      ]),
    );
  const claims = fc.oneof(
    fc.constantFrom(
      ...Object.values(types),
      "",
      "application/octet-stream",
      "audio/wav",
      "image/jpg",
    ),
    fc.string({ maxLength: 20 }),
  );

  test("is found or refused by name, whatever the bytes are", () => {
    fc.assert(
      fc.property(bytes, claims, fc.string({ maxLength: 20 }), (given, mimeType, name) => {
        isContainer(given);
        try {
          expect(typeOf({ name, mimeType }, given)).toMatch(/\S/);
        } catch (error) {
          expect(error).toBeInstanceOf(FileError);
          expect((error as FileError).file).toBe(name);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("never makes a server fail", async () => {
    await fc.assert(
      fc.asyncProperty(bytes, fc.constantFrom(...Object.values(types)), async (given, mimeType) => {
        const file = { name: "any", mimeType, bytes: given };
        const response = await handler.fetch(ways["REST with a form"]!("Read", [file]));
        await response.text();
        expect([200, 400, 413]).toContain(response.status);
      }),
      { numRuns: 60 },
    );
  });
});

describe("a table", () => {
  const cell = fc.oneof(
    fc.string({
      unit: fc.constantFrom("|", "\\", "\n", "\r", "a", " ", "`", "ü", "\u2028"),
      maxLength: 8,
    }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  );

  test("has every row and every cell at its place, whatever is in them", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 }),
        (rows) => {
          const columns = Math.max(...rows.map((row) => row.length));
          const lines = toTable(rows, 100_000).split(/[\n\r\u2028\u2029]/);
          expect(lines).toHaveLength(rows.length + 1);
          expect(lines[1]).toBe(`|${" --- |".repeat(columns)}`);
          for (const [at, line] of [lines[0]!, ...lines.slice(2)].entries()) {
            const cells = cellsOf(line);
            expect(cells).toHaveLength(columns);
            for (const [column, value] of rows[at]!.entries()) {
              const text =
                value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);
              expect(squeezed(cells[column]!)).toBe(squeezed(text));
            }
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  // As GitHub's reader of Markdown does: a backslash takes the next character along.
  function cellsOf(line: string): string[] {
    const cells = [...line.matchAll(/ ((?:\\[\\|]|[^|])*?) (?=\|)/g)].map(([, text]) => text!);
    return cells.map((text) =>
      text.replaceAll(/(\\*)\\\|/g, (_, marks: string) => `${marks.slice(marks.length / 2)}|`),
    );
  }

  const squeezed = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

  test("of CSV reaches the agent as it was written", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.array(fc.stringMatching(/^[a-zäß€😀"' ;|]{0,6}$/u), { minLength: 2, maxLength: 4 }),
          {
            minLength: 1,
            maxLength: 4,
          },
        ),
        async (rows) => {
          const text = rows
            .map((row) => row.map((one) => `"${one.replaceAll('"', '""')}"`).join(","))
            .join("\r\n");
          const file = {
            name: "a.csv",
            mimeType: types.csv,
            bytes: new TextEncoder().encode(text),
          };
          await (await handler.fetch(ways["AG-UI"]!("Read", [file]))).text();
          expect(textOf(seen.messages.at(-1)!)).toBe(`Read\n\n## File: a.csv\n${text}`);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe("what is too long", () => {
  test("is cut between characters, marked, and at most as long as allowed", async () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "ü", "😀", "e\u0301", "\n"),
      maxLength: 120,
    });
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 30, max: 150 }), async (given, maxChars) => {
        let cuts = 0;
        const file = {
          name: "a",
          mimeType: "text/plain",
          size: 0,
          bytes: async () => new Uint8Array(),
          stream: () => new ReadableStream(),
        };
        const { content } = await composeUserMessage(
          { id: "m", role: "user", content: "Read" },
          [{ file, part: undefined, text: given }],
          { maxChars, inlineBytes: 0, onCut: () => void cuts++ },
        );
        const whole = `Read\n\n## File: a\n${given}`;
        const shown = content as string;
        expect(shown.length).toBeLessThanOrEqual(maxChars);
        expect(shown).not.toMatch(/\p{Cs}/u);
        expect(cuts).toBe(whole.length > maxChars ? 1 : 0);
        if (whole.length <= maxChars) {
          expect(shown).toBe(whole);
          return;
        }
        expect(shown.endsWith(marker)).toBe(true);
        const kept = shown.slice(0, -marker.length);
        expect(whole.startsWith(kept)).toBe(true);
        // No more than half a character is given away.
        expect(maxChars - shown.length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 300 },
    );
  });

  test.each([0, 1])(
    "is so by default beyond 100,000 characters, also of two units each",
    async (shift) => {
      const bytes = new TextEncoder().encode("x".repeat(shift) + "😀".repeat(60_000));
      const file = { name: "a.txt", mimeType: types.txt, bytes };
      await (await handler.fetch(ways["REST with a form"]!("Read", [file]))).text();
      const shown = textOf(seen.messages.at(-1)!);
      expect(shown.length).toBeGreaterThan(100_000 - 2);
      expect(shown.length).toBeLessThanOrEqual(100_000);
      expect(shown).not.toMatch(/\p{Cs}/u);
      expect(shown.endsWith(`😀${marker}`)).toBe(true);
    },
  );
});
