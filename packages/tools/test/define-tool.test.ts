import type { StandardSchemaV1 } from "@standard-schema/spec";
import { fakeClock, runAgent } from "@holodeck/agui-testing";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineTool, parametersToJsonSchema } from "../src/index.ts";
import type { ArgumentsOf, DefinedTool } from "../src/index.ts";
import { deferred } from "./_helpers.ts";

const about = { name: "weather", description: "The weather of a city, now." };

/** How one call of the tool goes, and what the client is told of it. */
async function callOnce(tool: DefinedTool, args: unknown) {
  let outcome: any;
  const { toolCalls, error } = await runAgent(
    async (_, { callTools }) => {
      [outcome] = await callTools([{ name: tool.name, args }]);
    },
    { tools: [tool] },
  );
  return { outcome, toolCalls, error };
}

const textOnly: StandardSchemaV1<{ city: string }, { city: string }> = {
  "~standard": {
    version: 1,
    vendor: "hand-made",
    async validate(value) {
      const { city } = (value ?? {}) as { city?: unknown };
      if (typeof city === "string") return { value: { city } };
      return { issues: [{ message: "Expected text", path: [{ key: "city" }] }] };
    },
  },
};
const jsonSchema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
};
const execute = ({ city }: { city?: unknown }): string => `sunny in ${String(city)}`;

const forms: [string, DefinedTool][] = [
  ["zod", defineTool({ ...about, parameters: z.object({ city: z.string() }), execute })],
  [
    "valibot",
    defineTool({ ...about, parameters: v.object({ city: v.string() }), jsonSchema, execute }),
  ],
  [
    "a Standard Schema of one's own",
    defineTool({ ...about, parameters: textOnly, jsonSchema, execute }),
  ],
  ["plain JSON Schema", defineTool({ ...about, parameters: jsonSchema, execute })],
  ["a list", defineTool({ ...about, parameters: [{ name: "city" }], execute })],
];

describe.for(forms)("a tool with parameters in %s", ([, tool]) => {
  test("shows the model their JSON Schema", () => {
    expect(tool.parameters).toMatchObject(jsonSchema);
    expect(tool.parameters).not.toHaveProperty("$schema");
  });

  test("runs with arguments that fit", async () => {
    const { outcome, toolCalls } = await callOnce(tool, { city: "Bern" });
    expect(outcome).toMatchObject({ status: "done", result: "sunny in Bern" });
    expect(toolCalls).toMatchObject([{ args: { city: "Bern" }, result: "sunny in Bern" }]);
  });

  test("is not run with arguments that do not, and names which", async () => {
    const { outcome, toolCalls, error } = await callOnce(tool, { city: 5 });
    expect(outcome).toMatchObject({ status: "failed", error: { code: "invalid-arguments" } });
    expect(outcome.error.errors).toMatchObject([{ path: "city" }]);
    expect(outcome).not.toHaveProperty("result");
    expect(toolCalls[0]?.result).toMatch(/invalid-arguments.*city: /);
    expect(error).toBeUndefined();
  });
});

describe("arguments", () => {
  test("arrive as the schema makes them: with defaults, converted, without more than it knows", async () => {
    const parameters = z.object({ at: z.coerce.date(), unit: z.enum(["C", "F"]).default("C") });
    const tool = defineTool({
      ...about,
      parameters: z.object({
        at: z.string().transform((text) => new Date(text)),
        unit: z.string().default("C"),
      }),
      execute: ({ at, unit }) => `${at.getFullYear()} ${unit}`,
    });
    const { outcome } = await callOnce(tool, { at: "2026-05-01", more: true });
    expect(outcome.result).toBe("2026 C");
    expectTypeOf<ArgumentsOf<typeof parameters>>().toEqualTypeOf<{ at: Date; unit: "C" | "F" }>();
  });

  test("are an empty object when the tool takes none", async () => {
    const tool = defineTool({ ...about, execute: (args) => args });
    const { outcome } = await callOnce(tool, undefined);
    expect(outcome.result).toEqual({});
  });

  test("of a list get the defaults that are left out", async () => {
    const parameters = [{ name: "city" }, { name: "days", type: "integer", default: 3 }] as const;
    const tool = defineTool({ ...about, parameters, execute: (args) => args });
    expect((await callOnce(tool, { city: "Bern" })).outcome.result).toEqual({
      city: "Bern",
      days: 3,
    });
    expect((await callOnce(tool, { city: "Bern", days: 1.5 })).outcome.error.message).toContain(
      "days",
    );
    expect((await callOnce(tool, { city: "Bern", day: 1 })).outcome.error.message).toContain(
      "day: is unknown",
    );
  });

  test("that are no JSON reach neither tool nor client", async () => {
    const { outcome, toolCalls } = await callOnce(forms[0]![1], { city: 5n });
    expect(outcome.error.code).toBe("invalid-arguments");
    expect(toolCalls).toEqual([]);
  });
});

test("a list of parameters is a JSON Schema: strings, required, described", () => {
  expect(
    parametersToJsonSchema([
      { name: "city" },
      { name: "days", type: "integer", description: "How many.", default: 3 },
      { name: "tags", type: "array", required: false },
    ]),
  ).toEqual({
    type: "object",
    properties: {
      city: { type: "string", description: "Parameter city" },
      days: { type: "integer", description: "How many.", default: 3 },
      tags: { type: "array", description: "Parameter tags" },
    },
    required: ["city"],
    additionalProperties: false,
  });
});

describe("a definition is refused", () => {
  test.for<[string, object, string]>([
    ["a name with a dash", { name: "get-weather" }, 'not "get-weather"'],
    ["a name that begins with a digit", { name: "2d" }, "namePattern"],
    ["no name", { name: undefined }, "not undefined"],
    ["no description", { description: "" }, "description of"],
    ["no execute", { execute: undefined }, "execute of"],
    ["a time of zero", { timeoutMs: 0 }, "a number above 0, not 0"],
    ["a place that is none", { location: "browser" }, '"server" or "client"'],
    ["a client tool with something to execute", { location: "client" }, "remove execute"],
    ["an approval that is neither yes nor no", { needsApproval: "ask" }, "needsApproval of"],
    ["a schema of another type", { parameters: { type: "string" } }, 'of type "object"'],
    ["parameters that are none", { parameters: 5 }, "not 5"],
    ["a shape of zod's without z.object", { parameters: { city: z.string() } }, 'of type "object"'],
    [
      "a keyword it cannot check",
      { parameters: { type: "object", $dynamicRef: "#it" } },
      "parameters/$dynamicRef is not",
    ],
    ["a schema without JSON Schema", { parameters: textOnly }, "jsonSchema"],
    [
      "two parameters of a name",
      { parameters: [{ name: "a" }, { name: "a" }] },
      "needs a unique name",
    ],
    ["an option it does not know", { exec: 1 }, "Did you mean execute?"],
  ])("for %s", ([, wrong, words]) => {
    expect(() => defineTool({ ...about, execute, ...wrong })).toThrow(words);
  });

  test("unless another pattern of names is given", () => {
    const tool = defineTool({
      ...about,
      name: "mcp.get-weather",
      namePattern: /^[\w.-]+$/,
      execute,
    });
    expect(tool.name).toBe("mcp.get-weather");
  });
});

test("the schema of a tool's result is part of its definition", () => {
  const returns = { type: "string" };
  expect(defineTool({ ...about, execute, returns }).metadata).toEqual({ returns });
  expect(defineTool({ ...about, execute })).not.toHaveProperty("metadata");
});

test("a tool that takes too long gets an error, and the agent goes on", async () => {
  const clock = fakeClock();
  let reason: any;
  const begun = deferred();
  const slow = defineTool({
    ...about,
    timeoutMs: 500,
    execute: (_args, { signal }) => {
      signal.addEventListener("abort", () => (reason = signal.reason));
      begun.resolve();
      return new Promise(() => {});
    },
  });
  const done = runAgent(
    async (_, { callTools }) => {
      const [outcome] = await callTools([{ name: "weather", args: {} }]);
      return `${outcome?.error?.code} after ${outcome?.ms}`;
    },
    { tools: [slow], clock },
  );
  await begun.promise;
  await clock.advance(500);
  expect((await done).text).toBe("timeout after 500");
  expect(reason).toMatchObject({ code: "timeout" });
});
