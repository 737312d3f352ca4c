import { quoteText } from "@holodeck/agui-core/internal";
import type { Fault } from "@holodeck/agui-core";

/** One problem as zod reports it, in the parts that we read. */
interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly expected?: unknown;
  readonly values?: readonly unknown[];
  readonly options?: readonly unknown[];
  readonly discriminator?: string;
  readonly errors?: readonly (readonly Issue[])[];
}

/** What zod found wrong with `root`, one sentence for each thing. */
export function toFaults(issues: readonly Issue[], root: unknown): Fault[] {
  return issues.flatMap((issue) => {
    const value = valueAt(root, issue.path);
    const branches = issue.errors ?? [];
    // Of `string | Part[]` only the branch of the value's own kind is useful.
    const inner = Array.isArray(value) ? branches.find(isInside) : undefined;
    if (inner) {
      const deeper = inner.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
      return toFaults(deeper, root);
    }
    return [fault(issue.path, value, expectation(issue))];
  });
}

/** A fault in the usual format: what it is and what it must be. */
export function fault(path: readonly PropertyKey[], value: unknown, expected: string): Fault {
  const at = path.map(String).join(".");
  const message =
    value === undefined
      ? `${at} is missing; it must be ${expected}.`
      : `${at} must be ${expected}, not ${kindOf(value, expected)}.`;
  return { path: at, message };
}

function isInside(branch: readonly Issue[]): boolean {
  return branch.every((issue) => issue.path.length > 0);
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

function expectation(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return withArticle(String(issue.expected));
    case "invalid_value":
      return oneOf(issue.values);
    case "invalid_union":
      return isOfDiscriminator(issue)
        ? oneOf(issue.options ?? known(issue.path))
        : "a string or an array of content parts";
    default:
      return "an object";
  }
}

// zod 3.25, which an app may bring along, names neither the discriminator nor its values.
function isOfDiscriminator({ discriminator, errors = [] }: Issue): boolean {
  return discriminator !== undefined || errors.length === 0;
}

const roles = ["developer", "system", "assistant", "user", "tool", "activity", "reasoning"];
const parts = ["text", "image", "audio", "video", "document"];
const sources = ["data", "url", "file"];

function known(path: readonly PropertyKey[]): readonly string[] {
  if (path.at(-1) === "role") return roles;
  return path.at(-2) === "source" ? sources : parts;
}

function oneOf(values: readonly unknown[] = []): string {
  if (values.length === 0) return "known to AG-UI";
  const quoted = values.map((value) => JSON.stringify(value)).join(", ");
  return values.length === 1 ? quoted : `one of ${quoted}`;
}

function kindOf(value: unknown, expected: string): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  // Where a kind is expected, the value's kind is shown; otherwise the value, shortened.
  if (typeof value === "string" && !/^an? /.test(expected)) return quoteText(value);
  return withArticle(typeof value);
}

function withArticle(noun: string): string {
  return `${/^[aeio]/.test(noun) ? "an" : "a"} ${noun}`;
}
