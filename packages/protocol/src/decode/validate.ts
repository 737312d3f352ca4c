import { isRecord } from "@holodeck/agui-core/internal";
import type { Fault, Json, RunAgentInput } from "@holodeck/agui-core";
import { toFaults } from "./faults.ts";
import { maxFaults } from "./shape.ts";
import type { loadSchemas } from "../schemas.ts";

type Schemas = Awaited<ReturnType<typeof loadSchemas>>;
type Issues = Parameters<typeof toFaults>[0];

interface Schema {
  safeParse(value: unknown): { data?: unknown; error?: { readonly issues: Issues } | undefined };
}

/** An input that its schema accepts, or what is wrong with it. */
export interface Validated {
  readonly input?: RunAgentInput;
  readonly faults: readonly Fault[];
}

// Up to this many entries, an input is validated in one call.
const few = 256;

/**
 * Validates an input with AG-UI's schemas. zod reports every fault of a value, which takes far longer than the value
 * itself; the entries of long lists are therefore validated one by one, up to the first faults.
 */
export function validate(input: Json, schemas: Schemas): Validated {
  const { RunAgentInputSchema } = schemas;
  if (countEntries(input) <= few) {
    const { data, error } = RunAgentInputSchema.safeParse(input);
    return error ? { faults: toFaults(error.issues, input) } : { input: data, faults: [] };
  }
  const lists = listsOf(input, {
    messages: schemas.MessageSchema,
    tools: schemas.ToolSchema,
    context: schemas.ContextSchema,
    resume: schemas.ResumeEntrySchema,
  });
  const { ContentPartSchema: content, ToolCallSchema: toolCalls } = schemas;
  const checking = new Checking(input);
  const valid = checking.each(input, lists, {
    path: [],
    rest: RunAgentInputSchema,
    inside: (message) => listsOf(message, isAnswer(message) ? { toolCalls } : { content }),
  });
  return { input: valid as unknown as RunAgentInput, faults: checking.faults };
}

function isAnswer(message: unknown): boolean {
  return isRecord(message) && message["role"] === "assistant";
}

/** The members of an object that are lists, each with the schema of its entries. */
type Lists = readonly (readonly [name: string, entry: Schema])[];

function listsOf(value: unknown, known: Readonly<Record<string, Schema>>): Lists {
  if (!isRecord(value)) return [];
  // What is wrong with any other list is one fault.
  if ("content" in known && value["role"] !== "user" && value["role"] !== "tool") return [];
  return Object.entries(known).filter(([name]) => Array.isArray(value[name]));
}

function countEntries(input: Json): number {
  let count = 0;
  for (const name of ["messages", "tools", "context", "resume"]) {
    const list = input[name];
    if (!Array.isArray(list)) continue;
    count += list.length;
    if (name !== "messages" || count > few) continue;
    for (const message of list as unknown[]) {
      const { content, toolCalls } = (message ?? {}) as { content?: unknown; toolCalls?: unknown };
      if (Array.isArray(content)) count += content.length;
      if (Array.isArray(toolCalls)) count += toolCalls.length;
    }
  }
  return count;
}

interface Place {
  readonly path: readonly PropertyKey[];
  /** Accepts the object with empty lists. */
  readonly rest: Schema;
  /** The lists of an entry. */
  inside(entry: unknown): Lists;
}

class Checking {
  readonly faults: Fault[] = [];
  readonly #root: unknown;

  constructor(root: unknown) {
    this.#root = root;
  }

  /** An object whose lists are validated entry by entry. */
  each(value: Json, lists: Lists, { path, rest, inside }: Place): Json {
    const empty: Json = { ...value };
    for (const [name] of lists) empty[name] = [];
    const valid = this.#check(rest, empty, path) as Json;
    for (const [name, schema] of lists) {
      const entries: unknown[] = [];
      const list = value[name] as readonly unknown[];
      for (let index = 0; index < list.length && this.faults.length < maxFaults; index++) {
        entries.push(this.#entry(list[index], schema, { at: [...path, name, index], inside }));
      }
      if (valid !== undefined) valid[name] = entries;
    }
    return valid;
  }

  #entry(
    entry: unknown,
    schema: Schema,
    { at, inside }: { at: readonly PropertyKey[]; inside: Place["inside"] },
  ): unknown {
    const lists = inside(entry);
    if (lists.length === 0) return this.#check(schema, entry, at);
    return this.each(entry as Json, lists, { path: at, rest: schema, inside: () => [] });
  }

  #check(schema: Schema, value: unknown, path: readonly PropertyKey[]): unknown {
    const { data, error } = schema.safeParse(value);
    if (!error) return data;
    const issues = error.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
    this.faults.push(...toFaults(issues, this.#root));
    return undefined;
  }
}
