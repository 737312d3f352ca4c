import { isRecord } from "@holodeck/agui-core/internal";

/** The JSON Schema of a tool's parameters, from either form a file may give them in. */
export function toYamlParameters(
  given: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> | undefined {
  if (given === undefined || given.type === "object") return given;
  const entries = Object.entries(given);
  for (const [name, schema] of entries) {
    if (isRecord(schema)) continue;
    throw new TypeError(
      `parameters must be a JSON Schema of type object, or have a schema for each name, like ` +
        `"${name}: { type: string }".`,
    );
  }
  const schemas = entries as [string, Record<string, unknown>][];
  return {
    type: "object",
    properties: Object.fromEntries(schemas.map(([name, schema]) => [name, toProperty(schema)])),
    required: schemas.filter(([, schema]) => isRequired(schema)).map(([name]) => name),
    additionalProperties: false,
  };
}

function isRequired({ required, default: fallback }: Record<string, unknown>): boolean {
  return typeof required === "boolean" ? required : fallback === undefined;
}

// HoloDeck calls a number a float.
function toProperty(schema: Record<string, unknown>): Record<string, unknown> {
  const { required, ...rest } = schema;
  const kept = typeof required === "boolean" ? rest : schema;
  return kept.type === "float" ? { ...kept, type: "number" } : kept;
}
