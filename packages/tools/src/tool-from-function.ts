import { assertOptions, describeValue } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";
import { defineTool } from "./define-tool.ts";
import type { DefinedTool, ServerToolOptions } from "./define-tool.ts";
import { readFunctionParameters } from "./function-parameters.ts";
import type { ToolParameter } from "./parameters.ts";

export interface ToolFromFunctionOptions extends Omit<
  Partial<ServerToolOptions<readonly ToolParameter[]>>,
  "execute" | "jsonSchema" | "location" | "parameters"
> {
  /** Types and descriptions by name, which the source code does not have. */
  readonly parameters?: readonly ToolParameter[];
}

const known: readonly string[] = Object.keys({
  name: true,
  description: true,
  parameters: true,
  timeoutMs: true,
  namePattern: true,
  returns: true,
  metadata: true,
  needsApproval: true,
} satisfies Record<keyof ToolFromFunctionOptions, true>);

/**
 * A tool of an ordinary function: its name, its parameters by name, required unless they have a default.
 * Types are not there at run time: what is not described in `parameters` is a string, or of the type of
 * its default. A parameter called `context` gets the tool's context. Minified code has other names.
 *
 * @example
 * ```ts
 * const add = toolFromFunction(function add(a, b) { return a + b; }, {
 *   description: "Adds two numbers.",
 *   parameters: [{ name: "a", type: "number" }, { name: "b", type: "number" }],
 * });
 * ```
 */
export function toolFromFunction(
  // Its parameters may have any type: it is called with the values that the schema allows.
  callable: (...values: never[]) => unknown,
  options: ToolFromFunctionOptions = {},
): DefinedTool {
  if (typeof callable !== "function") {
    throw new TypeError(`toolFromFunction takes a function, not ${describeValue(callable)}.`);
  }
  assertOptions("toolFromFunction", options, known);
  const { name = callable.name, description = "No description provided", ...rest } = options;
  const names = readFunctionParameters(callable);
  if (!names) {
    throw new TypeError(
      `The parameters of "${name}" cannot be read from its source code. ` +
        `List them, or use defineTool({ parameters, execute }).`,
    );
  }
  const parameters = names
    .filter((one) => one.name !== "context")
    .map((one) => ({ ...one, ...describing(one.name, options.parameters) }));
  for (const one of options.parameters ?? []) {
    if (parameters.some((parameter) => parameter.name === one.name)) continue;
    throw new TypeError(`"${name}" has no parameter ${describeValue(one.name)}.`);
  }
  return defineTool({
    ...rest,
    name,
    description,
    parameters,
    execute(args: Json, context) {
      const values = names.map((one) => (one.name === "context" ? context : args[one.name]));
      return callable(...(values as never[]));
    },
  });
}

function describing(
  name: string,
  described: readonly ToolParameter[] = [],
): Partial<ToolParameter> {
  return described.find((one) => one.name === name) ?? {};
}
