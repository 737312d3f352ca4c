import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
// @ts-expect-error -- a script without types
import { renderPage } from "../adapters.mjs";

const page = new URL("../../docs/adapters.md", import.meta.url);

test("docs/adapters.md has what each adapter lacks, as scripts/adapters.mjs writes it", () => {
  expect(readFileSync(page, "utf8")).toBe(renderPage());
});
