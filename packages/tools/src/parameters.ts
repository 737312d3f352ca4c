import { AgentError } from "@holodeck/agui-core";
import { describeValue } from "@holodeck/agui-core/internal";
import type { Awaitable, Fault, Json } from "@holodeck/agui-core";
import { createValidator } from "./json-schema.ts";
import type { JsonSchema } from "./json-schema.ts";

/** What zod, valibot, ArkType and others implement; see standardschema.dev. */
export interface StandardSchema<TInput = unknown, TOutput = TInput> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Awaitable<StandardResult<TOutput>>;
    readonly types?: { readonly input: TInput; readonly output: TOutput } | undefined;
  };
}

export type StandardResult<TOutput> =
  | { readonly value: TOutput; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** One parameter of a tool, by name. */
export interface ToolParameter {
  readonly name: string;
  /** By default `string`. */
  readonly type?: "string" | "number" | "integer" | "boolean" | "object" | "array" | "null";
  /** By default `Parameter {name}`. */
  readonly description?: string;
  /** By default true, unless there is a `default`. */
  readonly required?: boolean;
  /** What the tool gets when the caller leaves it out. */
  readonly default?: unknown;
}

/** A Standard Schema, a plain JSON Schema, or a list. */
export type ToolParameters = StandardSchema | JsonSchema | readonly ToolParameter[];

/** The arguments that a tool with these parameters gets. */
export type ArgumentsOf<TParameters> = TParameters extends {
  readonly "~standard": { readonly types?: infer TTypes };
}
  ? NonNullable<TTypes> extends { readonly output: infer TOutput }
    ? TOutput
    : unknown
  : Json;

export interface Parameters {
  /** For the model and for clients. */
  readonly jsonSchema: JsonSchema;
  /** Throws `invalid-arguments` with everything that is wrong. */
  parse(args: unknown): Awaitable<unknown>;
}

const none: JsonSchema = { type: "object", properties: {} };

/** Reads the parameters of the tool of that name in whichever form they were given. */
export function readParameters(
  name: string,
  parameters: ToolParameters = none,
  jsonSchema?: JsonSchema,
): Parameters {
  if (isStandard(parameters)) {
    return {
      jsonSchema: jsonSchema ?? toJsonSchema(name, parameters),
      async parse(args) {
        const result = await parameters["~standard"].validate(args);
        if (result.issues) throw invalid(name, result.issues.map(toFault));
        return result.value;
      },
    };
  }
  if (Array.isArray(parameters)) {
    const schema = parametersToJsonSchema(parameters as readonly ToolParameter[]);
    return { jsonSchema: schema, parse: checked(name, schema, withDefaults(parameters)) };
  }
  const schema = parameters as JsonSchema;
  if (schema.type !== "object" || typeof schema !== "object") {
    const hint = `Try { type: "object", properties: { city: { type: "string" } } }.`;
    throw new TypeError(
      `The parameters of "${name}" must be a Standard Schema, a JSON Schema of type "object" or a list, ` +
        `not ${describeValue(parameters)}. ${hint}`,
    );
  }
  return { jsonSchema: schema, parse: checked(name, schema, (args) => args) };
}

/**
 * The JSON Schema of a list of parameters.
 *
 * @example
 * ```ts
 * parametersToJsonSchema([{ name: "city", description: "Where." }]);
 * ```
 */
export function parametersToJsonSchema(parameters: readonly ToolParameter[]): JsonSchema {
  const names = new Set<string>();
  for (const { name } of parameters) {
    if (typeof name !== "string" || name === "" || names.has(name)) {
      throw new TypeError(`Each parameter needs a unique name, not ${describeValue(name)}.`);
    }
    names.add(name);
  }
  return {
    type: "object",
    properties: Object.fromEntries(
      parameters.map(({ name, type = "string", description = `Parameter ${name}`, ...rest }) => [
        name,
        { type, description, ...(rest.default === undefined ? {} : { default: rest.default }) },
      ]),
    ),
    required: parameters.filter(isRequired).map(({ name }) => name),
    additionalProperties: false,
  };
}

function isRequired(parameter: ToolParameter): boolean {
  return parameter.required ?? parameter.default === undefined;
}

function withDefaults(parameters: readonly ToolParameter[]): (args: Json) => Json {
  const defaults = parameters.filter((one) => one.default !== undefined);
  return (args) => ({
    ...Object.fromEntries(defaults.map((one) => [one.name, structuredClone(one.default)])),
    ...args,
  });
}

function checked(
  name: string,
  schema: JsonSchema,
  finish: (args: Json) => Json,
): (args: unknown) => Json {
  const validate = createValidator(schema);
  return (args) => {
    const faults = validate(args);
    if (faults.length > 0) throw invalid(name, faults);
    return finish(args as Json);
  };
}

function isStandard(value: unknown): value is StandardSchema {
  // ArkType's schemas are functions.
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const standard = (value as Partial<StandardSchema>)["~standard"];
  return typeof standard?.validate === "function";
}

function toJsonSchema(name: string, { "~standard": standard }: StandardSchema): JsonSchema {
  const { jsonSchema } = standard as { jsonSchema?: { input(options: object): JsonSchema } };
  if (!jsonSchema) {
    throw new TypeError(
      `The parameters of "${name}" are a ${standard.vendor} schema that cannot be converted to a JSON ` +
        `Schema, which models need. Pass one as well: defineTool({ parameters, jsonSchema, … }).`,
    );
  }
  const { $schema: _, ...schema } = jsonSchema.input({ target: "draft-2020-12" });
  return schema;
}

function toFault({ message, path = [] }: StandardIssue): Fault {
  const names = path.map((part) => String(typeof part === "object" ? part.key : part));
  return { path: names.join("."), message };
}

function invalid(name: string, faults: readonly Fault[]): AgentError {
  const lines = faults.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  const words = lines.slice(0, 5).join("; ");
  return new AgentError(
    "invalid-arguments",
    `The arguments of "${name}" are not valid: ${words}.`,
    {
      errors: faults,
    },
  );
}
