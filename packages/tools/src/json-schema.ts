import { describeValue, isEqualJson } from "@holodeck/agui-core";
import type { Fault, Json } from "@holodeck/agui-core";
import { assertSchema, resolve } from "./json-schema-check.ts";

export type JsonSchema = Json;

// More is of no use to anybody who has to correct them.
const maxFaults = 20;
// A schema may refer to itself; arguments of this depth are nobody's.
const maxDepth = 200;

/**
 * A validator for a plain JSON Schema (2020-12, without what `docs/tools.md` leaves out). Throws for a
 * schema that it cannot check in full: nothing is let through because a keyword was not understood.
 */
export function createValidator(schema: JsonSchema): (value: unknown) => Fault[] {
  assertSchema(schema);
  return (value) => {
    const faults: Fault[] = [];
    check(schema, value, { root: schema, path: "", depth: 0, faults });
    return faults.slice(0, maxFaults);
  };
}

interface Place {
  readonly root: JsonSchema;
  readonly path: string;
  readonly depth: number;
  readonly faults: Fault[];
}

function check(schema: unknown, value: unknown, place: Place): void {
  if (schema === true || place.faults.length >= maxFaults) return;
  if (schema === false) return fail(place, "must not be there");
  if (place.depth > maxDepth) return fail(place, "is nested too deeply");
  const rules = schema as Json;
  const here = { ...place, depth: place.depth + 1 };
  if (typeof rules.$ref === "string") check(resolve(place.root, rules.$ref), value, here);
  // What has the wrong type is wrong in every other way, too.
  if (!checkType(rules, value, place)) return;
  if (rules.enum !== undefined && !(rules.enum as unknown[]).some((one) => isEqualJson(one, value)))
    fail(place, `must be one of ${JSON.stringify(rules.enum)}`);
  if ("const" in rules && !isEqualJson(rules.const, value))
    fail(place, `must be ${JSON.stringify(rules.const)}`);
  if (typeof value === "string") checkText(rules, value, place);
  else if (typeof value === "number") checkNumber(rules, value, place);
  else if (Array.isArray(value)) checkArray(rules, value, here);
  else if (isRecord(value)) checkObject(rules, value, here);
  checkCombined(rules, value, here);
}

function checkType({ type }: Json, value: unknown, place: Place): boolean {
  if (type === undefined) return true;
  const allowed = (Array.isArray(type) ? type : [type]) as string[];
  if (allowed.some((one) => isOfType(value, one))) return true;
  fail(place, `must be ${allowed.map(inWords).join(" or ")}, not ${describeValue(value)}`);
  return false;
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isRecord(value);
    case "integer":
      return Number.isInteger(value);
    case "number":
      return Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

function inWords(type: string): string {
  if (type === "null") return "null";
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function checkText(rules: Json, value: string, place: Place): void {
  const { minLength, maxLength, pattern } = rules as Bounds;
  const length = Array.from(value).length;
  if (minLength !== undefined && length < minLength)
    fail(place, `must have at least ${minLength} characters`);
  if (maxLength !== undefined && length > maxLength)
    fail(place, `must have at most ${maxLength} characters`);
  if (pattern !== undefined && !new RegExp(pattern, "u").test(value))
    fail(place, `must match ${pattern}`);
}

function checkNumber(rules: Json, value: number, place: Place): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = rules as Bounds;
  if (minimum !== undefined && value < minimum) fail(place, `must be at least ${minimum}`);
  if (maximum !== undefined && value > maximum) fail(place, `must be at most ${maximum}`);
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
    fail(place, `must be above ${exclusiveMinimum}`);
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
    fail(place, `must be below ${exclusiveMaximum}`);
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf))
    fail(place, `must be a multiple of ${multipleOf}`);
}

function checkArray(rules: Json, value: readonly unknown[], place: Place): void {
  const { minItems, maxItems } = rules as Bounds;
  if (minItems !== undefined && value.length < minItems)
    fail(place, `must have at least ${minItems} items`);
  if (maxItems !== undefined && value.length > maxItems)
    fail(place, `must have at most ${maxItems} items`);
  if (rules.uniqueItems === true && hasTwins(value))
    fail(place, "must not have the same item twice");
  const first = (rules.prefixItems ?? []) as readonly unknown[];
  for (const [index, item] of value.entries()) {
    const rule = index < first.length ? first[index] : rules.items;
    if (rule !== undefined) check(rule, item, inside(place, String(index)));
  }
}

function hasTwins(items: readonly unknown[]): boolean {
  return items.some((one, at) => items.slice(at + 1).some((other) => isEqualJson(one, other)));
}

function checkObject(rules: Json, value: Json, place: Place): void {
  const { minProperties, maxProperties } = rules as Bounds;
  const names = Object.keys(value);
  if (minProperties !== undefined && names.length < minProperties)
    fail(place, `must have at least ${minProperties} members`);
  if (maxProperties !== undefined && names.length > maxProperties)
    fail(place, `must have at most ${maxProperties} members`);
  for (const name of (rules.required ?? []) as string[]) {
    if (!Object.hasOwn(value, name)) fail(inside(place, name), "is missing");
  }
  const known = (rules.properties ?? {}) as Json;
  const patterns = Object.entries((rules.patternProperties ?? {}) as Json);
  for (const name of names) {
    const at = inside(place, name);
    if (rules.propertyNames !== undefined) check(rules.propertyNames, name, at);
    const own = Object.hasOwn(known, name) ? [known[name]] : [];
    const matching = patterns.filter(([pattern]) => new RegExp(pattern, "u").test(name));
    const all = [...own, ...matching.map(([, rule]) => rule)];
    for (const rule of all) check(rule, value[name], at);
    if (all.length > 0 || rules.additionalProperties === undefined) continue;
    if (rules.additionalProperties === false) fail(at, "is unknown");
    else check(rules.additionalProperties, value[name], at);
  }
}

function checkCombined(rules: Json, value: unknown, place: Place): void {
  for (const rule of (rules.allOf ?? []) as unknown[]) check(rule, value, place);
  const fits = (rule: unknown): boolean => {
    const faults: Fault[] = [];
    check(rule, value, { ...place, faults });
    return faults.length === 0;
  };
  if (rules.anyOf !== undefined && !(rules.anyOf as unknown[]).some(fits))
    fail(place, "fits none of the alternatives");
  if (rules.oneOf !== undefined) {
    const fitting = (rules.oneOf as unknown[]).filter(fits).length;
    if (fitting !== 1) fail(place, `must fit exactly one of the alternatives, not ${fitting}`);
  }
  if (rules.not !== undefined && fits(rules.not)) fail(place, "is not allowed");
}

type Bounds = { readonly [keyword: string]: number | undefined } & { readonly pattern?: string };

function inside(place: Place, name: string): Place {
  return { ...place, path: place.path === "" ? name : `${place.path}.${name}` };
}

function fail({ path, faults }: Place, message: string): void {
  faults.push({ path, message });
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
