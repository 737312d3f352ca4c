import { describeValue } from "@holodeck/agui-core";
import type { Json } from "@holodeck/agui-core";

// They decide about values, and the validator cannot say how.
const unsupported = new Set([
  "if",
  "then",
  "else",
  "contains",
  "minContains",
  "maxContains",
  "dependencies",
  "dependentRequired",
  "dependentSchemas",
  "unevaluatedItems",
  "unevaluatedProperties",
  "additionalItems",
  "$dynamicRef",
  "$recursiveRef",
]);

const types = ["null", "boolean", "object", "array", "number", "integer", "string"];
const numeric = [
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
];
const single = ["items", "additionalProperties", "propertyNames", "not"];
const listed = ["prefixItems", "allOf", "anyOf", "oneOf"];
const named = ["properties", "patternProperties", "$defs", "definitions"];

/** Throws for a schema that is none, or says more than the validator understands. */
export function assertSchema(schema: Json): void {
  visit(schema, "", schema);
}

function visit(schema: unknown, path: string, root: Json): void {
  if (typeof schema === "boolean" && path !== "") return;
  if (!isRecord(schema)) throw wrong(path, `must be a JSON Schema, not ${describeValue(schema)}`);
  for (const keyword of Object.keys(schema)) {
    if (unsupported.has(keyword)) {
      throw wrong(at(path, keyword), "is not supported; use a Standard Schema such as zod's");
    }
  }
  checkKeywords(schema, path, root);
  for (const keyword of single) {
    if (schema[keyword] !== undefined) visit(schema[keyword], at(path, keyword), root);
  }
  for (const keyword of listed) {
    const list = schema[keyword];
    if (list === undefined) continue;
    if (!Array.isArray(list)) throw wrong(at(path, keyword), "must be an array of schemas");
    list.forEach((one, index) => visit(one, at(path, `${keyword}/${index}`), root));
  }
  for (const keyword of named) {
    const record = schema[keyword];
    if (record === undefined) continue;
    if (!isRecord(record)) throw wrong(at(path, keyword), "must be an object of schemas");
    for (const [name, one] of Object.entries(record)) {
      if (keyword === "patternProperties") assertPattern(name, at(path, keyword));
      visit(one, at(path, `${keyword}/${name}`), root);
    }
  }
}

function checkKeywords(schema: Json, path: string, root: Json): void {
  const { type, required, $ref, pattern } = schema;
  for (const one of type === undefined ? [] : [type].flat()) {
    if (!types.includes(one as string)) {
      throw wrong(
        at(path, "type"),
        `must be one of ${types.join(", ")}, not ${describeValue(one)}`,
      );
    }
  }
  if (schema.enum !== undefined && !Array.isArray(schema.enum)) {
    throw wrong(at(path, "enum"), "must be an array of values");
  }
  const isNames = Array.isArray(required) && required.every((one) => typeof one === "string");
  if (required !== undefined && !isNames) throw wrong(at(path, "required"), "must be names");
  for (const keyword of numeric) {
    const bound = schema[keyword];
    if (bound !== undefined && typeof bound !== "number") {
      throw wrong(at(path, keyword), `must be a number, not ${describeValue(bound)}`);
    }
  }
  if (pattern !== undefined) assertPattern(pattern, at(path, "pattern"));
  if ($ref === undefined) return;
  const isLocal = typeof $ref === "string" && ($ref === "#" || $ref.startsWith("#/"));
  if (!isLocal || resolve(root, $ref) === undefined) {
    throw wrong(at(path, "$ref"), `must point into the schema, not ${describeValue($ref)}`);
  }
}

function assertPattern(pattern: unknown, path: string): void {
  try {
    if (typeof pattern === "string") return void new RegExp(pattern, "u");
  } catch {
    // Said below, in one way for all.
  }
  throw wrong(path, `must be a regular expression, not ${describeValue(pattern)}`);
}

/** What `#/$defs/name` points to; undefined when there is nothing. */
export function resolve(root: Json, ref: string): unknown {
  let found: unknown = root;
  for (const part of ref.split("/").slice(1)) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    const holder = found as Json | undefined;
    if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, name)) return;
    found = holder[name];
  }
  return found;
}

function at(path: string, keyword: string): string {
  return path === "" ? keyword : `${path}/${keyword}`;
}

function wrong(path: string, rule: string): TypeError {
  return new TypeError(`parameters${path === "" ? "" : `/${path}`} ${rule}.`);
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
