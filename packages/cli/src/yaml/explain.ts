import { describeValue, unknownName } from "@holodeck/agui-core";
import type { z } from "zod";
import type { Path, Report } from "./report.ts";
import { exampleOf, knownKeys, schemaAt } from "./schema-at.ts";
import { looksSecret } from "./secrets.ts";

interface Issue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
  readonly expected?: string;
  readonly values?: readonly unknown[];
  readonly options?: readonly unknown[];
  readonly errors?: readonly (readonly Issue[])[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly inclusive?: boolean;
  readonly origin?: string;
  readonly discriminator?: string;
}

export interface Checked {
  readonly schema: z.ZodType;
  readonly data: unknown;
  readonly report: Report;
  /** Places of which there is nothing more to say, as JSON of their paths. */
  readonly told: ReadonlySet<string>;
}

/** Reports what a schema found, in words that say what would be right. */
export function explain(issues: readonly z.core.$ZodIssue[], checked: Checked): void {
  for (const issue of issues) explainOne(issue as unknown as Issue, checked);
}

function explainOne(issue: Issue, checked: Checked): void {
  const { schema, data, report, told } = checked;
  const { path } = issue;
  const { value, isMissing } = lookUp(data, path);
  const wanted = schemaAt(schema, path, data);
  const label = labelOf(path);
  if (told.has(JSON.stringify(path))) return;
  if (issue.code === "unrecognized_keys") {
    for (const key of issue.keys ?? []) {
      const at = [...path, key];
      if (!told.has(JSON.stringify(at))) report.add(at, unknownKey(key, path, wanted));
    }
    return;
  }
  if (isMissing) {
    report.add(path, `${label} is missing${like(path, wanted ?? keySchema(checked, path))}.`);
    return;
  }
  const inner = issue.code === "invalid_union" ? branchOf(issue, value) : undefined;
  if (inner) {
    for (const one of inner) explainOne({ ...one, path: [...path, ...one.path] }, checked);
    return;
  }
  const rule = ruleOf(issue, { value, path, wanted });
  report.add(path, `${label} ${rule}${rule.endsWith("?") ? "" : "."}`);
  explainMeant(issue, value, checked);
}

// A misspelt variant hides what else is wrong with it: it is read as the one that was meant.
function explainMeant({ options, path }: Issue, value: unknown, checked: Checked): void {
  const meant = options && nearest(value, options);
  if (meant === undefined) return;
  const data = replaceAt(checked.data, path, meant);
  const holder = path.slice(0, -1);
  const found = schemaAt(checked.schema, holder, data)?.safeParse(lookUp(data, holder).value);
  for (const one of (found?.error?.issues ?? []) as unknown as Issue[]) {
    explainOne({ ...one, path: [...holder, ...one.path] }, { ...checked, data });
  }
}

function replaceAt(data: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  const holder = data as Record<PropertyKey, unknown>;
  const next = replaceAt(holder[key], rest, value);
  if (!Array.isArray(data)) return { ...holder, [key]: next };
  return data.map((one: unknown, index) => (index === key ? next : one));
}

interface Found {
  readonly value: unknown;
  readonly path: Path;
  readonly wanted: z.ZodType | undefined;
}

function ruleOf(issue: Issue, { value, path, wanted }: Found): string {
  const given = describe(value);
  const bound = issue.minimum ?? issue.maximum;
  const side = issue.minimum === undefined ? "at most" : "at least";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${inWords(issue.expected)}, not ${given}${like(path, wanted)}`;
    case "invalid_value":
    case "invalid_union": {
      const choices = issue.values ?? issue.options ?? [];
      if (choices.length === 0) return `cannot be ${given}${like(path, wanted)}`;
      return `must be ${oneOf(choices, value)}`;
    }
    case "too_small":
    case "too_big": {
      if (value === "") return `is empty${like(path, wanted)}`;
      const unit = { string: " characters", array: " items" }[issue.origin ?? ""] ?? "";
      const verb = unit === "" ? "be" : "have";
      if (issue.inclusive === false) return `must be above ${bound}, not ${given}`;
      return `must ${verb} ${side} ${bound}${unit}${unit === "" ? `, not ${given}` : ""}`;
    }
    default:
      return issue.message;
  }
}

// The wrong value is named, so that one sees which; a list of one is that one.
function oneOf(choices: readonly unknown[], value: unknown): string {
  const names = choices.map(String);
  const list = names.length === 1 ? names[0] : `one of ${names.join(", ")}`;
  if (typeof value !== "string" || looksSecret(value)) return `${list}, not ${describe(value)}`;
  const hint = nearest(value, names);
  return `${list}, not ${describe(value)}${hint === undefined ? "" : `; did you mean ${hint}?`}`;
}

function nearest(value: unknown, names: readonly unknown[]): string | undefined {
  if (typeof value !== "string") return undefined;
  const { message } = unknownName("it", value, names.map(String));
  return /Did you mean ([^?]+)\?/.exec(message)?.[1];
}

// What people write for it in other files of this kind.
const synonyms: Readonly<Record<string, string>> = {
  file: "module",
  function: "export",
  api_key: "api_key_env",
  token: "token_env",
  system: "instructions",
  prompt: "instructions",
};

function unknownKey(key: string, path: Path, wanted: z.ZodType | undefined): string {
  const known = knownKeys(wanted);
  const holder = path.length === 0 ? "the file" : labelOf(path);
  const synonym = Object.hasOwn(synonyms, key) ? synonyms[key] : undefined;
  if (synonym !== undefined && known.includes(synonym)) {
    return `"${key}" is not a key of ${holder}. Did you mean ${synonym}? There are: ${known.join(", ")}.`;
  }
  if (known.length === 0) return `"${key}" is not a key of ${holder}.`;
  return unknownName(`a key of ${holder}`, key, known).message.replace(/^\S+/, `"${key}"`);
}

// Of the variants the one whose kind the value is of; its faults are those worth telling.
function branchOf({ errors = [] }: Issue, value: unknown): readonly Issue[] | undefined {
  const isPlain = typeof value !== "object" || value === null;
  const fitting = errors.filter(
    (branch) =>
      !branch.some(
        ({ path, code }) =>
          path.length === 0 && (code === "invalid_type" || (code === "invalid_value" && !isPlain)),
      ),
  );
  return fitting.toSorted((a, b) => rank(a) - rank(b))[0];
}

// A key that is not known says less of what was meant than one that is wrong.
function rank(branch: readonly Issue[]): number {
  return branch.length + branch.filter(({ code }) => code === "unrecognized_keys").length;
}

// A variant that was not chosen has no schema for its discriminator; any of them will do.
function keySchema({ schema, data }: Checked, path: Path): z.ZodType | undefined {
  return schemaAt(schema, path.slice(0, -1), data);
}

function like(path: Path, wanted: z.ZodType | undefined): string {
  const example = exampleOf(wanted);
  const key = path.at(-1);
  if (example === undefined) return "";
  const shown = typeof example === "string" ? example : JSON.stringify(example);
  return typeof key === "string" ? `, like "${key}: ${shown}"` : `, like ${shown}`;
}

/** `tools[0].name`. */
export function labelOf(path: Path): string {
  const label = path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("");
  return path.length === 0 ? "The file" : label.replace(/^\./, "");
}

function inWords(expected = "something else"): string {
  const words: Record<string, string> = {
    string: "text",
    number: "a number",
    int: "a whole number",
    boolean: "true or false",
    array: "a list",
    object: "a mapping of keys to values",
    record: "a mapping of keys to values",
  };
  return words[expected] ?? expected;
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (typeof value === "string" && looksSecret(value)) return "what looks like a secret";
  if (typeof value === "object") return Array.isArray(value) ? "a list" : "a mapping";
  return describeValue(value);
}

function lookUp(data: unknown, path: Path): { value: unknown; isMissing: boolean } {
  let value = data;
  for (const key of path) {
    const isHolder = typeof value === "object" && value !== null;
    if (!isHolder || !Object.hasOwn(value as object, key)) {
      return { value: undefined, isMissing: true };
    }
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return { value, isMissing: false };
}
