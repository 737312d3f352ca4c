/**
 * Draft 2020-12's official test suite, which no registry has: run this file with its folder, as in
 * `JSON_SCHEMA_TEST_SUITE=../JSON-Schema-Test-Suite/tests/draft2020-12 npm test -- packages/tools`.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defineTool } from "../src/index.ts";

interface Group {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly { description: string; data: unknown; valid: boolean }[];
}

/** Why a schema may be refused when the tool is defined. Each of them is listed in `docs/tools.md`. */
const reasons = [
  /\$dynamicRef is not supported/,
  /\$ref must point into the schema/,
  /\$ref is not supported inside a schema with an "\$id"/,
];
/** `$schema` is not read, so a schema cannot turn keywords off. */
const vocabularies = "schema that uses custom metaschema with with no validation vocabulary";

const folder = process.env.JSON_SCHEMA_TEST_SUITE ?? "";
const files = folder === "" ? [] : readdirSync(folder).filter((name) => name.endsWith(".json"));

// A tool takes an object: the value stands in one, and pointers are moved with it.
function move(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(move);
  if (typeof schema !== "object" || schema === null) return schema;
  const members = Object.entries(schema).map(([name, one]) => {
    if (name === "enum" || name === "const") return [name, one];
    const isPointer = name === "$ref" && typeof one === "string" && /^#(?:\/|$)/.test(one);
    return [name, isPointer ? one.replace("#", "#/properties/value") : move(one)];
  });
  return Object.fromEntries(members) as unknown;
}

function validatorOf(schema: unknown): (value: unknown) => boolean {
  const tool = defineTool({
    name: "it",
    description: "Takes one value.",
    parameters: { type: "object", properties: { value: move(schema) } },
    execute: () => "ran",
  });
  return (value) => {
    try {
      tool.parse!({ value });
      return true;
    } catch {
      return false;
    }
  };
}

describe.skipIf(folder === "")("the test suite of draft 2020-12", () => {
  test.for(files)("agrees on %s, but for the schemas that are refused", (file) => {
    const groups = JSON.parse(readFileSync(join(folder, file), "utf8")) as Group[];
    for (const { description, schema, tests } of groups) {
      let isValid: (value: unknown) => boolean;
      try {
        isValid = validatorOf(schema);
      } catch (error) {
        const { message } = error as Error;
        expect(
          reasons.some((reason) => reason.test(message)),
          message,
        ).toBe(true);
        continue;
      }
      if (description === vocabularies) continue;
      for (const { data, valid, description: name } of tests) {
        expect(isValid(data), `${description}: ${name}`).toBe(valid);
      }
    }
  });
});
