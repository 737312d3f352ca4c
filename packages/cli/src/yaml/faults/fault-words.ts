import { describeValue, unknownName } from "@holodeck/agui-core/internal";
import type { z } from "zod";
import type { Path } from "./report.ts";
import { exampleOf, knownKeys } from "../schema/schema-at.ts";
import { looksSecret } from "./secrets.ts";

/** An issue from zod, with the members used here. */
export interface Issue {
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

/** The value that is wrong, where, and what it is held to. */
export interface Found {
  readonly value: unknown;
  readonly path: Path;
  readonly wanted: z.ZodType | undefined;
}

/** The rule that was broken, without its subject and the full stop. */
export function ruleOf(issue: Issue, { value, path, wanted }: Found): string {
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

/** The name that was meant, if one is near. */
export function nearest(value: unknown, names: readonly unknown[]): string | undefined {
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

/** That a key is not known, and which one is. */
export function unknownKey(key: string, path: Path, wanted: z.ZodType | undefined): string {
  const known = knownKeys(wanted);
  const holder = path.length === 0 ? "the file" : labelOf(path);
  const synonym = Object.hasOwn(synonyms, key) ? synonyms[key] : undefined;
  if (synonym !== undefined && known.includes(synonym)) {
    return `"${key}" is not a key of ${holder}. Did you mean ${synonym}? Expected one of: ${known.join(", ")}.`;
  }
  if (known.length === 0) return `"${key}" is not a key of ${holder}.`;
  return unknownName(`a key of ${holder}`, key, known).message.replace(/^\S+/, `"${key}"`);
}

/** An example of what would be right, if there is one. */
export function like(path: Path, wanted: z.ZodType | undefined): string {
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
