import { runAgent } from "@holodeck/agui-testing";
import { runInThisContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { toolFromFunction } from "../src/index.ts";
import type { DefinedTool } from "../src/index.ts";

async function resultOf(tool: DefinedTool, args: unknown): Promise<unknown> {
  let result: unknown;
  await runAgent(async (_, { callTool }) => void (result = await callTool(tool.name, args)), {
    tools: [tool],
  });
  return result;
}

// As it stands: what is written here in TypeScript comes out in a form of its own.
function written(source: string): (...values: never[]) => unknown {
  return runInThisContext(source) as () => unknown;
}

function forecast(city: string, days = 3, isShort = false): string {
  return `${city} ${days} ${isShort}`;
}

describe("a tool of a function", () => {
  test("has its name and parameters; those with a default may be left out", async () => {
    const tool = toolFromFunction(forecast);
    expect(tool).toMatchObject({
      name: "forecast",
      description: "No description provided",
      location: "server",
      parameters: {
        properties: {
          city: { type: "string", description: "Parameter city" },
          days: { type: "number" },
          isShort: { type: "boolean" },
        },
        required: ["city"],
      },
    });
    expect(await resultOf(tool, { city: "Bern" })).toBe("Bern 3 false");
    expect(await resultOf(tool, { isShort: true, city: "Bern", days: 1 })).toBe("Bern 1 true");
  });

  test("takes types and descriptions from its documentation", async () => {
    const add = (a: number, b: number): number => a + b;
    const tool = toolFromFunction(add, {
      description: "Adds two numbers.",
      parameters: [
        { name: "a", type: "number", description: "One." },
        { name: "b", type: "number", description: "Another." },
      ],
    });
    expect(tool.parameters).toMatchObject({ properties: { b: { description: "Another." } } });
    expect(await resultOf(tool, { a: 1, b: 2 })).toBe(3);
    await expect(resultOf(tool, { a: "1", b: 2 })).resolves.toBeUndefined();
  });

  test("gives the context to a parameter of that name", async () => {
    const tool = toolFromFunction(function where(_city: string, context: { threadId: string }) {
      return context.threadId.length > 0;
    });
    expect(tool.parameters).toMatchObject({ required: ["_city"] });
    expect(await resultOf(tool, { _city: "Bern" })).toBe(true);
  });

  test.for<[string, (...values: never[]) => unknown, string[]]>([
    ["an arrow with one parameter", written("city => city"), ["city"]],
    ["an async arrow", written("async (a, b) => a"), ["a", "b"]],
    [
      "a default with commas and brackets",
      written('(a = [1, ")"], b = f("x,", {}), c) => a'),
      ["a", "b", "c"],
    ],
    ["no parameters", written("() => 1"), []],
    [
      "a method",
      {
        find(id: string) {
          return id;
        },
      }.find,
      ["id"],
    ],
    ["an async generator", written("(async function* tell(a, b = '(') {})"), ["a", "b"]],
  ])("reads %s", ([, callable, names]) => {
    const { parameters } = toolFromFunction(callable, { name: "it" });
    expect(Object.keys(parameters.properties as object)).toEqual(names);
  });

  test.for<[string, unknown, object, string]>([
    [
      "a destructured object",
      ({ city }: { city: string }) => city,
      { name: "it" },
      "cannot be read",
    ],
    ["a rest parameter", (...all: string[]) => all, { name: "it" }, "cannot be read"],
    ["a function without a name", written("() => 1"), {}, 'not ""'],
    ["no function", 5, {}, "takes a function, not 5"],
    ["a parameter that is not there", forecast, { parameters: [{ name: "town" }] }, '"town"'],
    ["an option it does not know", forecast, { descripton: "x" }, "Did you mean description?"],
  ])("is refused for %s", ([, callable, options, words]) => {
    expect(() => toolFromFunction(callable as never, options)).toThrow(words);
  });
});
