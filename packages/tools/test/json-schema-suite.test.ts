import { describe, expect, test } from "vitest";
import { defineTool } from "../src/index.ts";
import { readSuite } from "./_json-schema-suite.ts";
import type { Group } from "./_json-schema-suite.ts";

const byUrl = /\$ref must point into the schema/;
const inPart = /\$ref is not supported inside a schema with an "\$id"/;
const dynamic = /\$dynamicRef is not supported/;
const older = /\/dependencies is not supported/;

/**
 * What is not supported: files with schemas that are refused when the tool is defined, and why. Each reason is
 * listed in `docs/tools.md`. Every other schema must be taken.
 */
const refusals: Readonly<Record<string, readonly RegExp[]>> = {
  "anchor.json": [byUrl, inPart],
  "defs.json": [byUrl],
  "dynamicRef.json": [dynamic, byUrl, inPart],
  "id.json": [byUrl],
  "ref.json": [byUrl, inPart],
  "refRemote.json": [byUrl, inPart],
  "unevaluatedItems.json": [dynamic, inPart],
  "unevaluatedProperties.json": [dynamic, inPart],
  "unknownKeyword.json": [byUrl],
  "optional/anchor.json": [byUrl],
  "optional/cross-draft.json": [byUrl],
  "optional/dependencies-compatibility.json": [older],
  "optional/dynamicRef.json": [dynamic, inPart],
  "optional/ecmascript-regex.json": [byUrl],
  "optional/id.json": [byUrl],
  "optional/refOfUnknownKeyword.json": [byUrl, inPart],
  "optional/unknownKeyword.json": [byUrl],
};

/** What decides otherwise: `$schema` is not read, so a schema can neither turn keywords off nor formats on. */
const metaschemas: readonly string[] = [
  "schema that uses custom metaschema with with no validation vocabulary",
  "schema that uses custom metaschema with format-assertion: false",
  "schema that uses custom metaschema with format-assertion: true",
];

/** By the names of their files. */
const keywords: readonly string[] = `
  type const enum required properties patternProperties
  additionalProperties propertyNames minProperties maxProperties dependentRequired dependentSchemas
  prefixItems items contains minContains maxContains minItems
  maxItems uniqueItems minimum maximum exclusiveMinimum exclusiveMaximum
  multipleOf minLength maxLength pattern allOf anyOf
  oneOf not if-then-else ref anchor defs
  unevaluatedItems unevaluatedProperties format content default
`
  .trim()
  .split(/\s+/);

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

/** Checks a group, or that its schema may be refused. */
function check({ description, schema, tests }: Group, reasons: readonly RegExp[]): void {
  let isValid: (value: unknown) => boolean;
  try {
    isValid = validatorOf(schema);
  } catch (error) {
    const { message } = error as Error;
    const isListed = reasons.some((reason) => reason.test(message));
    expect(isListed, `${description}: ${message}`).toBe(true);
    return;
  }
  for (const { data, valid, description: name } of tests) {
    expect(isValid(data), `${description}: ${name}`).toBe(valid);
  }
}

const suite = readSuite();

describe.skipIf(suite.length === 0)("the test suite of draft 2020-12", () => {
  test.for(suite)("agrees on %s, but for what is not supported", ([file, groups]) => {
    for (const group of groups) {
      if (!metaschemas.includes(group.description)) check(group, refusals[file] ?? []);
    }
  });

  test("has cases for every keyword", () => {
    const files = new Map(suite);
    const without = keywords.filter((name) => (files.get(`${name}.json`)?.length ?? 0) === 0);
    expect(without).toEqual([]);
  });
});
