import { expect, test } from "vitest";
import { toFaults } from "../src/decode/faults.ts";

// As zod 3.25 reports it, which an app with `@ag-ui/client` 1.0.0 installs beside us.
const issue = (...path: PropertyKey[]): Parameters<typeof toFaults>[0][number] => ({
  code: "invalid_union",
  errors: [],
  path,
});

test.for<[string, readonly PropertyKey[], unknown, string]>([
  ["a role", ["role"], { role: "usr" }, 'role must be one of "developer", "system", "assistant", '],
  ["a part", ["0", "type"], [{ type: "img" }], '0.type must be one of "text", "image", "audio", '],
  [
    "a source",
    ["source", "type"],
    { source: {} },
    'source.type is missing; it must be one of "data", "url", "file".',
  ],
])("knows the values of %s when zod does not list them", ([, path, root, words]) => {
  expect(toFaults([issue(...path)], root)[0]?.message).toContain(words);
});
