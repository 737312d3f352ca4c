import type { OutputUnit } from "@cfworker/json-schema";
import { describeValue, isRecord } from "@holodeck/agui-core/internal";
import type { Fault, Json } from "@holodeck/agui-core";
import { decodeFragment } from "./json-schema-compile.ts";
import type { CompiledSchema } from "./json-schema-compile.ts";

// Their own faults follow in the list.
const wrappers = new Set([
  "$ref",
  "allOf",
  "if",
  "dependentSchemas",
  "properties",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "prefixItems",
  "items",
  "unevaluatedItems",
]);

/** What is wrong, with the path and what was expected there, of what the validator found. */
export function describeFaults(
  units: readonly OutputUnit[],
  value: unknown,
  compiled: CompiledSchema,
): Fault[] {
  const faults = new Map<string, Fault>();
  const muted = mutedPlaces(units);
  const ofWrongType = new Set(
    units.flatMap((unit) => (unit.keyword === "type" ? [idOf(unit)] : [])),
  );
  let last: OutputUnit | undefined;
  let isLastMuted = false;
  for (const unit of units) {
    const { keyword, keywordLocation, instanceLocation } = unit;
    // The location of a schema that is `false` is not in the list: it belongs to the unit before it.
    const isMuted: boolean =
      keyword === "false"
        ? isLastMuted || muted.has(`${last?.keywordLocation ?? ""}/`)
        : isBelow(keywordLocation, muted);
    // What has the wrong type is wrong in every other way, too.
    const isEcho = keyword !== "type" && ofWrongType.has(idOf(unit));
    if (!isMuted && !isEcho && !wrappers.has(keyword)) {
      const path = partsOf(instanceLocation);
      const found = { unit, before: last, path, given: valueAt(path, value) };
      for (const fault of explain(found, compiled)) {
        faults.set(`${fault.path} ${fault.message}`, fault);
      }
    }
    last = unit;
    isLastMuted = isMuted;
  }
  return [...faults.values()];
}

// Why each alternative does not match is no help to a caller that has to match one of them.
function mutedPlaces(units: readonly OutputUnit[]): ReadonlySet<string> {
  const places = new Set<string>();
  for (const unit of units) {
    const { keyword, keywordLocation } = unit;
    if (keyword === "anyOf" || keyword === "oneOf" || keyword === "contains") {
      places.add(`${keywordLocation}/`);
    }
    if (keyword === "minContains" || keyword === "maxContains")
      places.add(`${parentOf(unit)}/contains/`);
  }
  return places;
}

function isBelow(location: string, places: ReadonlySet<string>): boolean {
  if (places.size === 0) return false;
  for (let at = location.indexOf("/"); at >= 0; at = location.indexOf("/", at + 1)) {
    if (at < location.length - 1 && places.has(location.slice(0, at + 1))) return true;
  }
  return false;
}

/** What the validator found, with the value it is about. */
interface Found {
  readonly unit: OutputUnit;
  /** The unit before it in the list. */
  readonly before: OutputUnit | undefined;
  readonly path: readonly string[];
  readonly given: unknown;
}

function explain({ unit, before, path, given }: Found, compiled: CompiledSchema): Fault[] {
  const here = path.join(".");
  const below = (name: string): string => [...path, name].join(".");
  if (unit.keyword === "false") {
    const isExtra = /^(?:additional|unevaluated)Properties$/.test(before?.keyword ?? "");
    return [{ path: here, message: isExtra ? "is unknown" : "must be absent" }];
  }
  const rules = rulesAt(parentOf(unit), compiled);
  if (unit.keyword === "required") {
    return missingOf(rules?.required, given).map((name) => ({
      path: below(name),
      message: "is missing",
    }));
  }
  if (unit.keyword === "dependentRequired") {
    return Object.entries((rules?.dependentRequired ?? {}) as Json)
      .filter(([name]) => isRecord(given) && Object.hasOwn(given, name))
      .flatMap(([name, names]) =>
        missingOf(names, given).map((one) => ({
          path: below(one),
          message: `is missing; it is required with ${name}`,
        })),
      );
  }
  if (unit.keyword === "type") {
    const types = [rules?.type].flat().map(inWords).join(" or ");
    return [{ path: here, message: `must be ${types}, not ${describeValue(given)}` }];
  }
  return [{ path: here, message: messageOf(unit, rules ?? {}, compiled) }];
}

function messageOf(
  { keyword, error }: OutputUnit,
  rules: Json,
  { repeated }: CompiledSchema,
): string {
  const rule = rules[keyword];
  switch (keyword) {
    case "enum":
      return `must be one of ${JSON.stringify(rule)}`;
    case "const":
      return `must be ${JSON.stringify(rule)}`;
    case "not":
      return repeated && isRecord(rule) && rule.enum === repeated
        ? "must not have the same item twice"
        : "is not allowed";
    case "anyOf":
      return "matches none of the alternatives";
    case "oneOf":
      return `must match exactly one of the alternatives, not ${/\d+(?= match)/.exec(error)?.[0] ?? "more"}`;
    case "contains":
      return "must have an item that matches";
    case "minContains":
      return `must have at least ${String(rule)} items that match`;
    case "maxContains":
      return `must have at most ${String(rule)} items that match`;
    case "pattern":
      return `must match ${String(rule)}`;
    case "multipleOf":
      return `must be a multiple of ${String(rule)}`;
    case "exclusiveMinimum":
      return `must be above ${String(rule)}`;
    case "exclusiveMaximum":
      return `must be below ${String(rule)}`;
    case "minimum":
      return `must be at least ${String(rule)}`;
    case "maximum":
      return `must be at most ${String(rule)}`;
    default:
      return sizeMessage(keyword, rule) ?? error;
  }
}

const counted = { Length: "characters", Items: "items", Properties: "members" };

function sizeMessage(keyword: string, rule: unknown): string | undefined {
  const of = counted[keyword.slice(3) as keyof typeof counted];
  if (of === undefined) return undefined;
  return `must have at ${keyword.startsWith("min") ? "least" : "most"} ${String(rule)} ${of}`;
}

function inWords(type: unknown): string {
  const name = String(type);
  if (name === "null") return name;
  return /^[aeiou]/.test(name) ? `an ${name}` : `a ${name}`;
}

function missingOf(names: unknown, given: unknown): string[] {
  if (!Array.isArray(names) || !isRecord(given)) return [];
  return (names as string[]).filter((name) => !Object.hasOwn(given, name));
}

/** The schema at a place of the validator's, which leads through references. */
function rulesAt(location: string, { root, lookup }: CompiledSchema): Json | undefined {
  let found: unknown = root;
  for (const part of partsOf(location)) {
    if (typeof found !== "object" || found === null) return undefined;
    const holder = found as Json;
    found = part === "$ref" ? lookup[String(holder.$ref)] : holder[part];
  }
  return isRecord(found) ? found : undefined;
}

function valueAt(path: readonly string[], value: unknown): unknown {
  return path.reduce((found, name) => (found as Json | undefined)?.[name], value);
}

function partsOf(location: string): string[] {
  return location.split("/").slice(1).map(decodeFragment);
}

function parentOf({ keywordLocation }: OutputUnit): string {
  return keywordLocation.slice(0, keywordLocation.lastIndexOf("/"));
}

function idOf(unit: OutputUnit): string {
  return `${unit.instanceLocation} ${parentOf(unit)}`;
}
