import { describeValue, isRecord } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";

/** A schema as the validator reads it: keywords that decide about values, and nothing else. */
export interface CompiledSchema {
  readonly root: Json;
  /** Where a `$ref` leads. */
  readonly lookup: Readonly<Record<string, Json | boolean>>;
  /** With `uniqueItems` in the schema: takes the lists of a value that have an item twice. */
  readonly repeated: unknown[] | undefined;
}

// They decide about values, and the validator cannot check them, or reads them as older drafts do.
const unsupported = new Set(["dependencies", "additionalItems", "$dynamicRef", "$recursiveRef"]);
const types = ["null", "boolean", "object", "array", "number", "integer", "string"];
const numeric = [
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minContains",
  "maxContains",
  "minProperties",
  "maxProperties",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
];
const single = [
  "items",
  "contains",
  "unevaluatedItems",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
];
const listed = ["prefixItems", "allOf", "anyOf", "oneOf"];
const named = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];

interface Reference {
  readonly ref: string;
  readonly path: string;
}

/** Throws for a schema that is none, or that has more than the validator can check. */
export function compileSchema(schema: Json): CompiledSchema {
  const compiler = new Compiler(schema);
  const root = compiler.visit(schema, "", false) as Json;
  return { root, lookup: compiler.link(), repeated: compiler.repeated };
}

class Compiler {
  repeated: unknown[] | undefined;
  readonly #root: Json;
  readonly #compiled = new Map<unknown, Json>();
  readonly #anchors = new Map<string, Json>();
  readonly #references: Reference[] = [];

  constructor(root: Json) {
    this.#root = root;
  }

  /** `isEmbedded`: inside a schema with an `$id`, where references have another base. */
  visit(schema: unknown, path: string, isEmbedded: boolean): Json | boolean {
    if (typeof schema === "boolean" && path !== "") return schema;
    if (!isRecord(schema)) throw wrong(path, `must be a JSON Schema, not ${describeValue(schema)}`);
    for (const keyword of Object.keys(schema)) {
      if (unsupported.has(keyword)) throw notSupported(at(path, keyword));
    }
    const rules: Record<string, unknown> = plainKeywords(schema, path);
    this.#compiled.set(schema, rules);
    const isApart = isEmbedded || (schema !== this.#root && schema.$id !== undefined);
    if (typeof schema.$anchor === "string" && !isApart) this.#anchors.set(schema.$anchor, schema);
    if (schema.$ref !== undefined) rules.$ref = this.#refer(schema.$ref, at(path, "$ref"), isApart);
    for (const keyword of single) {
      if (schema[keyword] === undefined) continue;
      rules[keyword] = this.visit(schema[keyword], at(path, keyword), isApart);
    }
    for (const keyword of listed) {
      const list = schema[keyword];
      if (list === undefined) continue;
      if (!Array.isArray(list)) throw wrong(at(path, keyword), "must be an array of schemas");
      rules[keyword] = list.map((one, index) =>
        this.visit(one, at(path, `${keyword}/${index}`), isApart),
      );
    }
    for (const keyword of named) {
      const record = schema[keyword];
      if (record === undefined) continue;
      if (!isRecord(record)) throw wrong(at(path, keyword), "must be an object of schemas");
      rules[keyword] = Object.fromEntries(
        Object.entries(record).map(([name, one]) => {
          if (keyword === "patternProperties") assertPattern(name, at(path, keyword));
          return [name, this.visit(one, at(path, `${keyword}/${name}`), isApart)];
        }),
      );
    }
    // The validator compares each item with each other one. This is the same in linear time: of the lists
    // of a value those with an item twice are known before it is checked.
    if (schema.uniqueItems === true) {
      const unique = { not: { enum: (this.repeated ??= []) } };
      rules.allOf = [...((rules.allOf ?? []) as unknown[]), unique];
    }
    return rules;
  }

  /** What each `$ref` leads to, once everything was visited. */
  link(): Record<string, Json | boolean> {
    const lookup: Record<string, Json | boolean> = Object.create(null);
    // Grows: a reference may lead to a place that no keyword leads to.
    for (const { ref, path } of this.#references) {
      if (lookup[ref] !== undefined) continue;
      const target = this.#resolve(ref);
      if (target === undefined) {
        throw wrong(path, `must point into the schema, not ${describeValue(ref)}`);
      }
      const known = this.#compiled.get(target) ?? this.visit(target, ref.slice(2), false);
      lookup[ref] = known;
    }
    return lookup;
  }

  #refer(ref: unknown, path: string, isEmbedded: boolean): string {
    if (isEmbedded) throw notSupported(path, ' inside a schema with an "$id"');
    if (typeof ref !== "string") {
      throw wrong(path, `must point into the schema, not ${describeValue(ref)}`);
    }
    this.#references.push({ ref, path });
    return ref;
  }

  #resolve(ref: string): unknown {
    if (ref === "#") return this.#root;
    if (!ref.startsWith("#/")) return this.#anchors.get(ref.slice(1));
    let found: unknown = this.#root;
    for (const part of ref.split("/").slice(1)) {
      const name = decodeFragment(part);
      if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return;
      found = (found as Json)[name];
    }
    return found;
  }
}

function plainKeywords(schema: Json, path: string): Record<string, unknown> {
  const rules: Record<string, unknown> = {};
  const { type, required, pattern, dependentRequired } = schema;
  for (const one of type === undefined ? [] : [type].flat()) {
    if (!types.includes(one as string)) {
      throw wrong(
        at(path, "type"),
        `must be one of ${types.join(", ")}, not ${describeValue(one)}`,
      );
    }
  }
  if (type !== undefined) rules.type = type;
  if (schema.enum !== undefined) {
    if (!Array.isArray(schema.enum)) throw wrong(at(path, "enum"), "must be an array of values");
    rules.enum = schema.enum;
  }
  if (schema.const !== undefined) rules.const = schema.const;
  if (required !== undefined) {
    assertNames(required, at(path, "required"));
    rules.required = required;
  }
  for (const keyword of numeric) {
    const bound = schema[keyword];
    if (bound === undefined) continue;
    if (typeof bound !== "number") {
      throw wrong(at(path, keyword), `must be a number, not ${describeValue(bound)}`);
    }
    rules[keyword] = bound;
  }
  if (pattern !== undefined) {
    assertPattern(pattern, at(path, "pattern"));
    rules.pattern = pattern;
  }
  if (dependentRequired !== undefined) {
    if (!isRecord(dependentRequired)) {
      throw wrong(at(path, "dependentRequired"), "must be an object of names");
    }
    for (const [name, names] of Object.entries(dependentRequired)) {
      assertNames(names, at(path, `dependentRequired/${name}`));
    }
    rules.dependentRequired = dependentRequired;
  }
  return rules;
}

function assertNames(value: unknown, path: string): void {
  const isNames = Array.isArray(value) && value.every((one) => typeof one === "string");
  if (!isNames) throw wrong(path, "must be names");
}

function assertPattern(pattern: unknown, path: string): void {
  try {
    if (typeof pattern === "string") return void new RegExp(pattern, "u");
  } catch {
    // The error below is the same for all.
  }
  throw wrong(path, `must be a regular expression, not ${describeValue(pattern)}`);
}

/** Decodes one part of a JSON pointer in a URI. */
export function decodeFragment(part: string): string {
  const text = part.includes("%") ? decodeURIComponent(part) : part;
  return text.replaceAll("~1", "/").replaceAll("~0", "~");
}

function at(path: string, keyword: string): string {
  return path === "" ? keyword : `${path}/${keyword}`;
}

function notSupported(path: string, where = ""): TypeError {
  return wrong(path, `is not supported${where}; use a Standard Schema such as zod's`);
}

function wrong(path: string, rule: string): TypeError {
  return new TypeError(`parameters${path === "" ? "" : `/${path}`} ${rule}.`);
}
