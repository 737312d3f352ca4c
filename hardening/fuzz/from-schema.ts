import { hostileTexts, hostileValue } from "./mutate.ts";
import type { Random } from "./random.ts";

/** A JSON Schema of an OpenAPI document, as far as ours use it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema | boolean;
  readonly prefixItems?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
  readonly minimum?: number;
}

/** Finds what a reference in the document leads to. */
function lookUp(document: unknown, ref: string): Schema {
  const steps = ref.replace(/^#\//, "").split("/");
  return steps.reduce(
    (value, key) => (value as Record<string, unknown>)[key.replaceAll("~1", "/")],
    document,
  ) as Schema;
}

/** What values are made from: the document that references lead into, and chance. */
export interface Source {
  readonly document: unknown;
  readonly random: Random;
}

/** A value that the schema allows, or now and then one that it does not. */
export function fromSchema(schema: Schema, source: Source, depth = 0): unknown {
  const { document, random } = source;
  const again = (inner: Schema): unknown => fromSchema(inner, source, depth + 1);
  if (depth > 12 || random.chance(0.02)) return hostileValue(random);
  if (schema.$ref !== undefined) return again(lookUp(document, schema.$ref));
  if ("const" in schema) return schema.const;
  if (schema.enum) return random.pick(schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return again(random.pick(choices));
  if (schema.allOf) {
    const parts = schema.allOf.map(again);
    return parts.every(isObject) ? Object.assign({}, ...parts) : parts.at(-1);
  }
  const type = typeof schema.type === "object" ? random.pick(schema.type) : schema.type;
  switch (type ?? (schema.properties ? "object" : "any")) {
    case "object":
      return toObject(schema, again, random);
    case "array": {
      const items = typeof schema.items === "object" ? schema.items : {};
      const first = (schema.prefixItems ?? []).map(again);
      return [...first, ...Array.from({ length: random.below(4) }, () => again(items))];
    }
    case "string":
      return toText(random);
    case "integer":
    case "number":
      return (schema.minimum ?? 0) + random.pick([0, 1, 5, 100, 1e6]);
    case "boolean":
      return random.chance(0.5);
    case "null":
      return null;
    default:
      return random.chance(0.5) ? toText(random) : hostileValue(random);
  }
}

function toObject(schema: Schema, again: (inner: Schema) => unknown, random: Random): unknown {
  const required = new Set(schema.required);
  const entries = Object.entries(schema.properties ?? {}).flatMap(([key, inner]) =>
    (required.has(key) ? random.chance(0.97) : random.chance(0.4)) ? [[key, again(inner)]] : [],
  );
  const more = schema.additionalProperties;
  if (typeof more === "object" && random.chance(0.5)) {
    entries.push([random.pick(hostileTexts), again(more)]);
  }
  if (random.chance(0.03)) entries.push([random.pick(hostileTexts), hostileValue(random)]);
  return Object.fromEntries(entries) as unknown;
}

// Ids that exist, plain words, and now and then a hostile text.
function toText(random: Random): string {
  if (random.chance(0.2)) return random.pick(hostileTexts);
  return random.pick(["default", "t-1", "r-1", "user", "text", "hi", "1.0", "call-1"]);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
