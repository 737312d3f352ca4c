// oxlint-disable unicorn/no-thenable -- `then` is a keyword of JSON Schema.
import fc from "fast-check";
import { isAgentError } from "@holodeck/agui";
import { runAgent } from "@holodeck/agui-testing";
import { Ajv2020 as Ajv } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { effort } from "../../../scripts/test-support/effort.ts";
import { defineTool } from "../src/index.ts";
import type { JsonSchema } from "../src/index.ts";

const scale = Number(process.env.SCHEMA_RUNS ?? effort(1, 0.25));

/** What is wrong with the arguments, by the tool that has this schema; empty when nothing is. */
async function faultsOf(schema: unknown, value: unknown): Promise<string[]> {
  const parameters: JsonSchema = {
    type: "object",
    properties: { value: schema },
    required: ["value"],
  };
  const tool = defineTool({
    name: "it",
    description: "Takes one value.",
    parameters,
    execute: () => "ran",
  });
  try {
    await tool.parse!({ value });
    return [];
  } catch (error) {
    if (!isAgentError(error)) throw error;
    expect(error.code).toBe("invalid-arguments");
    return (error.errors ?? []).map(({ path, message }) => `${path} ${message}`);
  }
}

type Case = [name: string, schema: unknown, good: readonly unknown[], bad: readonly unknown[]];

describe("a plain JSON Schema", () => {
  test.for<Case>([
    ["type", { type: "string" }, ["", "x"], [1, null, true, [], {}]],
    ["several types", { type: ["string", "null"] }, ["", null], [1]],
    ["integer", { type: "integer" }, [1, -2, 3.0], [1.5, "1"]],
    ["number", { type: "number" }, [1, 1.5], ["1", null]],
    ["boolean", { type: "boolean" }, [true, false], [0, "true"]],
    ["enum", { enum: ["a", 1, null, { b: [1] }] }, ["a", 1, null, { b: [1] }], ["b", {}]],
    ["const", { const: { a: 1 } }, [{ a: 1 }], [{ a: 2 }, 1]],
    ["lengths, in characters", { minLength: 2, maxLength: 3 }, ["ab", "🌦🌦🌦", 5], ["a", "abcd"]],
    ["pattern", { pattern: "^\\p{Lu}" }, ["Ä", 5], ["a"]],
    ["bounds", { minimum: 1, exclusiveMaximum: 3 }, [1, 2.9, "x"], [0, 3]],
    ["outer bounds", { exclusiveMinimum: 1, maximum: 3 }, [2, 3], [1, 4]],
    ["multiples", { multipleOf: 5 }, [0, 10], [3]],
    [
      "multiples of a cent",
      { multipleOf: 0.01 },
      [0.07, 0.29, 4.35, 8.61, 19.99, -19.99, 1e6, "x"],
      [0.075, 19.999],
    ],
    ["multiples that are small", { multipleOf: 0.0001 }, [0.0075, 12], [0.00751]],
    ["items", { type: "array", items: { type: "number" } }, [[], [1]], [["x"], {}]],
    [
      "first items",
      { prefixItems: [{ type: "string" }], items: false },
      [["a"], []],
      [[1], ["a", 1]],
    ],
    ["sizes", { minItems: 1, maxItems: 2 }, [[1], [1, 2]], [[], [1, 2, 3]]],
    [
      "unique items",
      { uniqueItems: true },
      [
        [1, 2],
        [{ a: 1 }, { a: 2 }],
      ],
      [[{ a: 1 }, { a: 1 }]],
    ],
    ["required", { required: ["a"] }, [{ a: 1 }, 5], [{}, { b: 1 }]],
    ["properties", { properties: { a: { type: "string" } } }, [{ a: "x" }, {}, 5], [{ a: 1 }]],
    [
      "nothing more",
      { properties: { a: true }, additionalProperties: false },
      [{ a: 1 }],
      [{ b: 1 }],
    ],
    ["more of a kind", { additionalProperties: { type: "number" } }, [{ a: 1 }], [{ a: "x" }]],
    [
      "patterns of names",
      { patternProperties: { "^x-": { type: "number" } } },
      [{ "x-a": 1, y: "" }],
      [{ "x-a": "" }],
    ],
    ["names", { propertyNames: { maxLength: 2 } }, [{ ab: 1 }], [{ abc: 1 }]],
    [
      "numbers of members",
      { minProperties: 1, maxProperties: 2 },
      [{ a: 1 }],
      [{}, { a: 1, b: 2, c: 3 }],
    ],
    ["allOf", { allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
    ["anyOf", { anyOf: [{ type: "string" }, { minimum: 5 }] }, ["x", 6], [1]],
    ["oneOf", { oneOf: [{ minimum: 1 }, { maximum: 3 }] }, [0, 4], [2]],
    ["not", { not: { type: "string" } }, [1], ["x"]],
    [
      "conditions",
      {
        if: { properties: { kind: { const: "card" } }, required: ["kind"] },
        then: { required: ["number"] },
        else: { maxProperties: 1 },
      },
      [{ kind: "card", number: 1 }, { kind: "cash" }],
      [{ kind: "card" }, { kind: "cash", number: 1 }],
    ],
    ["contains", { contains: { minimum: 5 } }, [[1, 5], 3], [[], [1]]],
    [
      "how much it contains",
      { contains: { minimum: 5 }, minContains: 2, maxContains: 3 },
      [[5, 6, 1]],
      [[5], [5, 6, 7, 8], []],
    ],
    ["dependent names", { dependentRequired: { a: ["b"] } }, [{ a: 1, b: 1 }, {}], [{ a: 1 }]],
    [
      "dependent schemas",
      { dependentSchemas: { a: { properties: { b: { type: "number" } } } } },
      [{ a: 1, b: 1 }, { b: "x" }],
      [{ a: 1, b: "x" }],
    ],
    [
      "what no alternative knows",
      {
        anyOf: [{ properties: { a: true }, required: ["a"] }, { properties: { b: true } }],
        unevaluatedProperties: false,
      },
      [{ a: 1 }, { b: 1 }, { a: 1, b: 1 }],
      [{ c: 1 }, { a: 1, c: 1 }],
    ],
    [
      "items that no rule knows",
      { prefixItems: [true], unevaluatedItems: false },
      [[1], []],
      [[1, 2]],
    ],
    ["an anchor", { $ref: "#it", $defs: { a: { $anchor: "it", type: "number" } } }, [1], ["x"]],
    [
      "unique items where another alternative fits",
      { anyOf: [{ uniqueItems: true }, { maxItems: 2 }] },
      [
        [1, 2, 3],
        [1, 1],
      ],
      [[1, 1, 2]],
    ],
    ["items that are not unique", { not: { uniqueItems: true } }, [[1, 1]], [[1, 2], 5]],
    ["JSON", {}, [null, 1], [undefined, Number.NaN, () => 1, { a: [undefined] }]],
    ["names that are text", {}, [{ "\u{1f600}%#/~": 1 }], [{ "\ud800": 1 }]],
    ["true and false", { properties: { a: true, b: false } }, [{ a: 1 }], [{ b: 1 }]],
    [
      "annotations",
      { title: "t", format: "email", default: 5, examples: [], "x-ui": 1 },
      [1, "x"],
      [],
    ],
    ["an inherited name", { required: ["toString"] }, [{ toString: 1 }], [{}]],
  ])("checks %s", async ([, schema, good, bad]) => {
    for (const value of good)
      expect(await faultsOf(schema, value), JSON.stringify(value)).toEqual([]);
    for (const value of bad) {
      const faults = await faultsOf(schema, value);
      expect(faults.length, JSON.stringify(value)).toBeGreaterThan(0);
      expect(faults[0]).toMatch(/^value/);
    }
  });

  test("may refer to its own definitions, and to itself", async () => {
    const tool = defineTool({
      name: "it",
      description: "Takes a tree of names.",
      parameters: {
        type: "object",
        properties: { tree: { $ref: "#/$defs/a~1node" } },
        $defs: {
          "a/node": {
            type: "object",
            properties: {
              name: { type: "string" },
              leaves: { type: "array", items: { $ref: "#/$defs/a~1node" } },
            },
            required: ["name"],
          },
        },
      },
      execute: () => "ran",
    });
    const call = async (tree: unknown) => {
      let words = "";
      await runAgent(
        async (_input, { callTools }) => {
          const [outcome] = await callTools([{ name: "it", args: { tree } }]);
          words = outcome?.error?.message ?? String(outcome?.result);
        },
        { tools: [tool] },
      );
      return words;
    };
    expect(await call({ name: "a", leaves: [{ name: "b" }] })).toBe("ran");
    expect(await call({ name: "a", leaves: [{ leaves: [] }] })).toContain(
      "tree.leaves.0.name: is missing",
    );
    let deep: unknown = { name: "x" };
    for (let i = 0; i < 500; i++) deep = { name: "x", leaves: [deep] };
    expect(await call(deep)).toContain("nested too deeply");
  });

  test("that leads nowhere but to itself ends all the same", async () => {
    expect(await faultsOf({ $ref: "#/properties/value" }, 1)).toEqual([
      expect.stringContaining("nested too deeply"),
    ]);
  });

  test("reports everything that is wrong at once", async () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["b"],
      additionalProperties: false,
    };
    expect(await faultsOf(schema, { a: 1, c: 2 })).toEqual([
      "value.b is missing",
      "value.a must be a string, not 1",
      "value.c is unknown",
    ]);
  });

  test.for<[string, unknown, unknown, string[]]>([
    ["items", { items: { type: "string" } }, ["a", 1], ["value.1 must be a string, not 1"]],
    [
      "a definition",
      { $ref: "#/properties/value/$defs/a~1%25b", $defs: { "a/%b": { minLength: 2 } } },
      "x",
      ["value must have at least 2 characters"],
    ],
    [
      "a name with marks",
      { patternProperties: { "^/": { maxItems: 1 } } },
      { "/a~b": [1, 2] },
      ["value./a~b must have at most 1 items"],
    ],
    ["the wrong type once", { type: "string", enum: ["a"] }, 1, ["value must be a string, not 1"]],
    [
      "alternatives",
      { anyOf: [{ type: "string" }, { additionalProperties: false }, false] },
      { a: 1 },
      ["value matches none of the alternatives"],
    ],
    [
      "how many fit",
      { oneOf: [{ minimum: 1 }, { minimum: 2 }, { type: "string" }] },
      3,
      ["value must match exactly one of the alternatives, not 2"],
    ],
    [
      "an item twice",
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      ["value must not have the same item twice"],
    ],
    [
      "a dependent name",
      { dependentRequired: { a: ["b"] } },
      { a: 1 },
      ["value.b is missing; it is required with a"],
    ],
    ["a condition", { if: true, then: { required: ["a"] } }, {}, ["value.a is missing"]],
    [
      "what it contains",
      { contains: { type: "string" }, minContains: 2 },
      ["a", 1],
      ["value must have at least 2 items that match"],
    ],
    [
      "one that it contains",
      { contains: { type: "string" } },
      [1, 2],
      ["value must have an item that matches"],
    ],
    [
      "forbidden members",
      { properties: { a: false }, required: ["b"] },
      { a: 1 },
      ["value.b is missing", "value.a must be absent"],
    ],
    [
      "unknown members",
      { properties: { a: true }, unevaluatedProperties: false },
      { c: 1 },
      ["value.c is unknown"],
    ],
    ["what is not allowed", { not: { const: 5 } }, 5, ["value is not allowed"]],
  ])("names the place and what was expected of %s", async ([, schema, given, faults]) => {
    expect(await faultsOf(schema, given)).toEqual(faults);
  });

  test("compares the items of a list in time that grows with the list", async () => {
    for (const count of [500, 4_000]) {
      let reads = 0;
      const items = Array.from(
        { length: count },
        (_, index) =>
          new Proxy(
            { index, name: `item ${index}` },
            {
              ownKeys(target) {
                reads++;
                return Reflect.ownKeys(target);
              },
            },
          ),
      );
      expect(await faultsOf({ uniqueItems: true }, items)).toEqual([]);
      expect(reads / count).toBeLessThan(10);
      expect(await faultsOf({ uniqueItems: true }, [...items, items[7]])).toEqual([
        "value must not have the same item twice",
      ]);
      // A list that is refused is compared with itself, item by item, and not each item with each other one.
      expect(reads / count).toBeLessThan(50);
    }
  });

  test("refuses what is too large to describe in full, and names what is wrong first", async () => {
    const items = Array.from({ length: 200_000 }, () => 1);
    expect((await faultsOf({ items: { type: "string" } }, items))[0]).toBe(
      "value.0 must be a string, not 1",
    );
  });

  test.for<[string, object, string]>([
    [
      "a dynamic reference",
      { $dynamicRef: "#it" },
      "parameters/properties/value/$dynamicRef is not supported",
    ],
    ["keywords of older drafts", { dependencies: {} }, "dependencies is not supported"],
    [
      "a reference below another id",
      { $id: "other", $ref: "#/$defs/x" },
      '$ref is not supported inside a schema with an "$id"',
    ],
    ["dependent names that are none", { dependentRequired: { a: "b" } }, "must be names"],
    ["an unknown type", { type: "text" }, 'not "text"'],
    ["a bound that is none", { minimum: "1" }, 'minimum must be a number, not "1"'],
    ["a pattern that is none", { pattern: "(" }, "pattern must be a regular expression"],
    ["a pattern of names that is none", { patternProperties: { "(": {} } }, "regular expression"],
    ["names that are none", { required: "a" }, "required must be names"],
    ["values that are no list", { enum: "a" }, "enum must be an array"],
    [
      "a reference to elsewhere",
      { $ref: "https://example.org/x" },
      "$ref must point into the schema",
    ],
    ["a reference to nothing", { $ref: "#/$defs/x" }, "$ref must point into the schema"],
    ["items of the old kind", { items: [{}] }, "items must be a JSON Schema"],
    ["alternatives that are no list", { anyOf: {} }, "anyOf must be an array"],
    ["properties that are no object", { properties: [] }, "properties must be an object"],
  ])("is refused with %s, when the tool is defined", async ([, schema, words]) => {
    await expect(faultsOf(schema, 1)).rejects.toThrow(words);
  });

  const bound = fc.integer({ min: -3, max: 3 });
  const leaf = fc.oneof(
    fc.record(
      { type: fc.constant("integer"), minimum: bound, maximum: bound },
      { requiredKeys: ["type"] },
    ),
    fc.record({ type: fc.constant("number"), exclusiveMinimum: bound }, { requiredKeys: ["type"] }),
    fc.record(
      { type: fc.constant("string"), minLength: fc.nat(3), maxLength: fc.nat(3) },
      { requiredKeys: ["type"] },
    ),
    fc.constant({ type: "boolean" }),
    fc.constant({ type: "null" }),
    fc.record({ enum: fc.uniqueArray(fc.constantFrom("a", "b", "c"), { minLength: 1 }) }),
    fc.record({ const: fc.constantFrom("a", 1, true) }),
  );
  const { schema } = fc.letrec<{ schema: object }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.record(
        {
          type: fc.constant("array"),
          items: tie("schema"),
          minItems: fc.nat(2),
          maxItems: fc.nat(3),
        },
        { requiredKeys: ["type", "items"] },
      ),
      fc
        .record({
          a: tie("schema"),
          b: tie("schema"),
          isOpen: fc.boolean(),
          required: fc.subarray(["a", "b"]),
        })
        .map(({ a, b, isOpen, required }) => ({
          type: "object",
          properties: { a, b },
          required,
          ...(isOpen ? {} : { additionalProperties: false }),
        })),
      fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    ),
  }));
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<unknown>(null, true, false, 0, 1, -2, 2.5, "", "a", "b", "abc", "abcd"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), { maxKeys: 3 }),
    ),
  }));

  const { rich } = fc.letrec<{ rich: object }>((tie) => {
    const child = tie("rich");
    const few = fc.array(child, { minLength: 1, maxLength: 2 });
    return {
      rich: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.record({ if: child, then: child, else: child }, { requiredKeys: ["if"] }),
        fc.record(
          { contains: child, minContains: fc.nat(2), maxContains: fc.nat(2) },
          { requiredKeys: ["contains"] },
        ),
        fc.record(
          { uniqueItems: fc.constant(true), items: child },
          { requiredKeys: ["uniqueItems"] },
        ),
        fc.record({ prefixItems: few, unevaluatedItems: child }),
        fc.record({
          dependentRequired: fc.constant({ a: ["b"] }),
          dependentSchemas: fc.record({ b: child }),
        }),
        fc.record({
          patternProperties: fc.record({ "^[ab]$": child }),
          additionalProperties: child,
        }),
        fc.record({
          properties: fc.record({ a: child }),
          anyOf: few,
          unevaluatedProperties: child,
        }),
        fc.record({ oneOf: few }),
        fc.record({ allOf: few, not: child }),
        fc.record({ propertyNames: fc.record({ enum: fc.constant(["a", "b"]) }) }),
      ),
    };
  });

  test("takes what Ajv takes of the same schema, and nothing else", async () => {
    const taken = { yes: 0, no: 0 };
    await fc.assert(
      fc.asyncProperty(rich, value, async (rules, given) => {
        const oracle = new Ajv({ strict: false }).validate(rules, given);
        taken[oracle ? "yes" : "no"]++;
        expect((await faultsOf(rules, given)).length === 0).toBe(oracle);
      }),
      { numRuns: 400 * scale },
    );
    expect(Math.min(taken.yes, taken.no)).toBeGreaterThan(20 * scale);
  });

  test("takes what zod takes of the same schema, and nothing else", async () => {
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(schema, value, async (rules, given) => {
        const oracle = z.fromJSONSchema(rules as never).safeParse(given).success;
        if (oracle) taken++;
        expect((await faultsOf(rules, given)).length === 0).toBe(oracle);
      }),
      { numRuns: 400 * scale },
    );
    expect(taken).toBeGreaterThan(10 * scale);
  });
});
