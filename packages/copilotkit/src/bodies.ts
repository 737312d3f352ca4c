import { AgentError, isOpaqueId } from "@holodeck/agui-core";
import { isRecord } from "@holodeck/agui-core/internal";
import type { Fault, Json } from "@holodeck/agui-core";

/** What clients send, besides the input of a run. */
export interface Bodies {
  readonly connect: { threadId: string; protocolVersion?: string | undefined };
  readonly stop: { runId?: string | undefined };
  readonly envelope: { method: string; params?: Json | undefined; body?: unknown };
  readonly resource: { path: string; httpMethod: string };
  readonly change: { name?: string | null | undefined; archived?: boolean | undefined };
  readonly archive: { agentId?: string | undefined };
  readonly list: {
    agentId?: string | undefined;
    includeArchived?: "true" | "false" | undefined;
    limit: number;
    cursor?: string | undefined;
  };
}

/** What is answered in JSON. */
export type AnswerKind =
  | "stopped"
  | "threads"
  | "thread"
  | "archived"
  | "deleted"
  | "messages"
  | "events"
  | "state";

/** What a member must be, and whether it is. */
interface Rule {
  readonly expected: string;
  isMet(value: unknown): boolean;
}

const text: Rule = { expected: "a string", isMet: (value) => typeof value === "string" };
const filled: Rule = {
  expected: "a string that is not empty",
  isMet: (value) => typeof value === "string" && value !== "",
};
const id: Rule = { expected: "1 to 256 visible characters", isMet: isOpaqueId };
const object: Rule = { expected: "an object", isMet: isRecord };
const flag: Rule = { expected: "true or false", isMet: (value) => typeof value === "boolean" };
const name: Rule = {
  expected: "null, or 1 to 200 characters",
  isMet: (value) => value === null || (typeof value === "string" && isName(value.trim())),
};
const path: Rule = {
  expected: 'a path of at most 4096 characters that starts with "/"',
  isMet: (value) => typeof value === "string" && value.length <= 4096 && value.startsWith("/"),
};
const count: Rule = {
  expected: "a whole number from 1 to 100",
  isMet: (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 100,
};

function isName(given: string): boolean {
  return given !== "" && given.length <= 200;
}

function oneOf(...values: readonly string[]): Rule {
  return {
    expected: `one of ${values.join(", ")}`,
    isMet: (one) => values.includes(one as string),
  };
}

function maybe({ expected, isMet }: Rule): Rule {
  return { expected, isMet: (value) => value === undefined || isMet(value) };
}

const rules: { readonly [K in keyof Bodies]: Readonly<Record<string, Rule>> } = {
  connect: { threadId: id, protocolVersion: maybe(text) },
  stop: { runId: maybe(id) },
  envelope: { method: text, params: maybe(object) },
  resource: { path, httpMethod: oneOf("GET", "POST", "PATCH", "DELETE") },
  change: { name: maybe(name), archived: maybe(flag) },
  archive: { agentId: maybe(text) },
  list: {
    agentId: maybe(text),
    includeArchived: maybe(oneOf("true", "false")),
    limit: count,
    cursor: maybe(filled),
  },
};

/** A body by its rules; a wrong one is refused with everything that is wrong with it. */
export function checkBody<K extends keyof Bodies>(kind: K, given: unknown): Bodies[K] {
  if (!isRecord(given)) throw refusal([{ path: "", message: "It must be an object." }]);
  const { limit = 50 } = given;
  const body = kind === "list" ? { ...given, limit: Number(limit) } : given;
  const faults = Object.entries(rules[kind]).flatMap(([member, rule]): Fault[] => {
    if (rule.isMet(body[member])) return [];
    return [{ path: member, message: `${member} must be ${rule.expected}.` }];
  });
  if (kind === "change" && body.name === undefined && body.archived === undefined) {
    faults.push({ path: "", message: "An update needs a name or archived." });
  }
  if (faults.length > 0) throw refusal(faults);
  const isNamed = kind === "change" && typeof body.name === "string";
  return (isNamed ? { ...body, name: (body.name as string).trim() } : body) as Bodies[K];
}

function refusal(errors: readonly Fault[]): AgentError {
  const message = `The body is not valid: ${errors[0]?.message}`;
  return new AgentError("invalid-request", message, { errors });
}
