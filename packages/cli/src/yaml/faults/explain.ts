import type { z } from "zod";
import { labelOf, like, nearest, ruleOf, unknownKey } from "./fault-words.ts";
import type { Issue } from "./fault-words.ts";
import type { Path, FileReport } from "./report.ts";
import { schemaAt } from "../schema/schema-at.ts";

export interface Checked {
  readonly schema: z.ZodType;
  readonly data: unknown;
  readonly report: FileReport;
  /** Places whose fault was already reported, as JSON of their paths. */
  readonly reported: ReadonlySet<string>;
}

/** Reports the issues of a schema, with what is expected instead. */
export function explain(issues: readonly z.core.$ZodIssue[], checked: Checked): void {
  for (const issue of issues) explainOne(issue as unknown as Issue, checked);
}

function explainOne(issue: Issue, checked: Checked): void {
  const { schema, data, report, reported } = checked;
  const { path } = issue;
  const { value, isMissing } = lookUp(data, path);
  const wanted = schemaAt(schema, path, data);
  const label = labelOf(path);
  if (reported.has(JSON.stringify(path))) return;
  if (issue.code === "unrecognized_keys") {
    for (const key of issue.keys ?? []) {
      const at = [...path, key];
      if (!reported.has(JSON.stringify(at))) report.add(at, unknownKey(key, path, wanted));
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

// The variant whose kind the value has; its faults are the useful ones.
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

// An unknown key reveals less of the intent than a wrong value.
function rank(branch: readonly Issue[]): number {
  return branch.length + branch.filter(({ code }) => code === "unrecognized_keys").length;
}

// A variant that was not chosen has no schema for its discriminator; any of them will do.
function keySchema({ schema, data }: Checked, path: Path): z.ZodType | undefined {
  return schemaAt(schema, path.slice(0, -1), data);
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
