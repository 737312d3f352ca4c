import { AgentError } from "@holodeck/agui-core";
import { assertOptions, describeValue } from "@holodeck/agui-core/internal";
import type { Awaitable, Json, RunContext, ServerTool, ToolContext } from "@holodeck/agui-core";
import type { JsonSchema } from "./json-schema.ts";
import { readParameters } from "./parameters.ts";
import type { ArgumentsOf, ToolParameters } from "./parameters.ts";

interface CommonOptions<TParameters extends ToolParameters> {
  readonly name: string;
  /** What the model reads when it decides. */
  readonly description: string;
  /** A Standard Schema (zod, valibot …), a plain JSON Schema, or a list. By default no arguments. */
  readonly parameters?: TParameters;
  /** For a Standard Schema that cannot be converted to one. */
  readonly jsonSchema?: JsonSchema;
  /** Given up after this. By default `limits.toolTimeoutMs`, 30 s. */
  readonly timeoutMs?: number;
  /** What a name may look like. By default an identifier: letters, digits and `_`. */
  readonly namePattern?: RegExp;
  /** The JSON Schema of the result, for readers of the definition. */
  readonly returns?: JsonSchema;
  readonly metadata?: Json;
}

export interface ServerToolOptions<
  TParameters extends ToolParameters,
> extends CommonOptions<TParameters> {
  readonly location?: "server";
  /** Runs it. `context.signal` is aborted when its time is up, and when the run ends before it. */
  readonly execute: (args: ArgumentsOf<TParameters>, context: ToolContext) => unknown;
  /** Whether a person has to allow the call first; or a function that decides by its arguments. */
  readonly needsApproval?:
    | boolean
    | ((args: ArgumentsOf<TParameters>, context: RunContext) => Awaitable<boolean>);
}

/** A tool that runs in the client, and is only declared here. */
export interface ClientToolOptions<
  TParameters extends ToolParameters,
> extends CommonOptions<TParameters> {
  readonly location: "client";
  readonly execute?: undefined;
  readonly needsApproval?: undefined;
}

export type DefineToolOptions<TParameters extends ToolParameters = ToolParameters> =
  | ServerToolOptions<TParameters>
  | ClientToolOptions<TParameters>;

/** What `defineTool` makes: for `tools` of `createAgentHandler`, `runAgent` and the tool loop. */
export interface DefinedTool extends ServerTool {
  readonly parameters: JsonSchema;
  readonly location: "server" | "client";
}

const known: Record<keyof ServerToolOptions<ToolParameters>, true> = {
  name: true,
  description: true,
  parameters: true,
  jsonSchema: true,
  timeoutMs: true,
  namePattern: true,
  returns: true,
  metadata: true,
  location: true,
  execute: true,
  needsApproval: true,
};

/**
 * A tool with checked arguments.
 *
 * @example
 * ```ts
 * const weather = defineTool({
 *   name: "weather",
 *   description: "The weather of a city, now.",
 *   parameters: z.object({ city: z.string() }),
 *   execute: async ({ city }, { signal }) => fetchWeather(city, signal),
 * });
 * ```
 */
export function defineTool<const TParameters extends ToolParameters = JsonSchema>(
  options: DefineToolOptions<TParameters>,
): DefinedTool {
  assertOptions("defineTool", options, Object.keys(known));
  const { name, description, timeoutMs, needsApproval, execute, returns } = options;
  const { location = "server" } = options;
  assertName(name, options.namePattern);
  if (typeof description !== "string" || description === "") {
    throw wrong(`description of "${name}"`, "what the tool does, in words", description);
  }
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs > 0)) {
    throw wrong(`timeoutMs of "${name}"`, "a number above 0", timeoutMs);
  }
  if (location !== "server" && location !== "client") {
    throw wrong(`location of "${name}"`, '"server" or "client"', location);
  }
  if (needsApproval !== undefined && !["boolean", "function"].includes(typeof needsApproval)) {
    throw wrong(`needsApproval of "${name}"`, "true, false or a function", needsApproval);
  }
  assertExecute(name, location, execute);
  const { parameters, jsonSchema } = options;
  const { parse, jsonSchema: schema } = readParameters(name, parameters, jsonSchema);
  const metadata = { ...options.metadata, ...(returns === undefined ? {} : { returns }) };
  return {
    name,
    description,
    parameters: schema,
    location,
    parse,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(needsApproval === undefined
      ? {}
      : { needsApproval: needsApproval as NonNullable<ServerTool["needsApproval"]> }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    invoke(args, context) {
      if (!execute) throw new AgentError("tool-error", `The tool "${name}" runs in the client.`);
      return execute(args as ArgumentsOf<TParameters>, context);
    },
  };
}

function assertName(name: unknown, pattern = /^[a-zA-Z_][a-zA-Z0-9_]*$/): void {
  if (typeof name === "string" && name.length <= 128 && pattern.test(name)) return;
  throw new TypeError(
    `The name of a tool must match ${String(pattern)}, not ${describeValue(name)}. ` +
      `To allow other names, pass namePattern to defineTool.`,
  );
}

function assertExecute(name: string, location: string, execute: unknown): void {
  if (location === "server" && typeof execute !== "function") {
    throw wrong(`execute of "${name}"`, "a function (args, context) => result", execute);
  }
  if (location === "client" && execute !== undefined) {
    throw new TypeError(`The tool "${name}" runs in the client; remove execute.`);
  }
}

function wrong(what: string, expected: string, value: unknown): TypeError {
  return new TypeError(`${what} must be ${expected}, not ${describeValue(value)}.`);
}
