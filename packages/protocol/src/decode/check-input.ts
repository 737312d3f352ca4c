import { isRecord } from "@holodeck/agui-core/internal";
import type { Fault, Json } from "@holodeck/agui-core";
import { fault, listValues } from "./faults.ts";
import { maxFaults } from "./shape.ts";

/**
 * What is wrong with an input, one sentence for each thing, up to a few more than are reported. The rules are those of
 * AG-UI's schemas (`RunAgentInputSchema` of `@ag-ui/core/schemas`), which take far more code and time.
 */
export function checkInput(input: Json): readonly Fault[] {
  const place = new Place();
  runInput(input, place);
  return place.faults;
}

type Rule = (value: unknown, place: Place) => void;

/** Where a rule is applied, and what was found so far. */
class Place {
  readonly faults: Fault[] = [];
  readonly #path: PropertyKey[] = [];

  refuse(value: unknown, expected: string): void {
    this.faults.push(fault(this.#path, value, expected));
  }

  /** Applies a rule to the member of that name. */
  check(key: PropertyKey, value: unknown, rule: Rule): void {
    this.#path.push(key);
    rule(value, this);
    this.#path.pop();
  }
}

const text: Rule = (value, place) => {
  if (typeof value !== "string") place.refuse(value, "a string");
};

const object: Rule = (value, place) => {
  if (!isRecord(value)) place.refuse(value, "an object");
};

const anything: Rule = () => {};

function maybe(rule: Rule): Rule {
  return (value, place) => {
    if (value !== undefined) rule(value, place);
  };
}

function among(...values: readonly string[]): Rule {
  return (value, place) => {
    if (!values.includes(value as string)) place.refuse(value, listValues(values));
  };
}

function listOf(rule: Rule): Rule {
  return (value, place) => {
    if (!Array.isArray(value)) return place.refuse(value, "an array");
    for (let index = 0; index < value.length; index++) {
      if (place.faults.length > maxFaults) return;
      place.check(index, value[index], rule);
    }
  };
}

function withMembers(members: Readonly<Record<string, Rule>>): Rule {
  const rules = Object.entries(members);
  return (value, place) => {
    if (!isRecord(value)) return place.refuse(value, "an object");
    for (const [name, rule] of rules) place.check(name, value[name], rule);
  };
}

/** An object whose kind is in one of its members. */
function ofKind(member: string, kinds: Readonly<Record<string, Rule>>): Rule {
  const known = among(...Object.keys(kinds));
  return (value, place) => {
    if (!isRecord(value)) return place.refuse(value, "an object");
    const { [member]: kind } = value;
    const rule = typeof kind === "string" && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
    if (rule) rule(value, place);
    else place.check(member, kind, known);
  };
}

const source = ofKind("type", {
  data: withMembers({ value: text, mimeType: text }),
  url: withMembers({ value: text, mimeType: maybe(text) }),
  file: withMembers({ value: text, provider: maybe(text), mimeType: maybe(text) }),
});
const media = withMembers({ id: maybe(text), source });
const parts = listOf(
  ofKind("type", {
    text: withMembers({ id: maybe(text), text }),
    image: media,
    audio: media,
    video: media,
    document: media,
  }),
);

const content: Rule = (value, place) => {
  if (typeof value === "string") return;
  if (Array.isArray(value)) parts(value, place);
  else place.refuse(value, "a string or an array of content parts");
};

const encrypted = { encryptedValue: maybe(text), metadata: maybe(object) };
const common = { subagentRunId: maybe(text), id: text };
const named = { ...common, name: maybe(text), ...encrypted };
const instructions = withMembers({ ...named, content: text });
const toolCall = withMembers({
  id: text,
  type: among("function"),
  function: withMembers({ name: text, arguments: text }),
  ...encrypted,
});

const message = ofKind("role", {
  developer: instructions,
  system: instructions,
  assistant: withMembers({ ...named, content: maybe(text), toolCalls: maybe(listOf(toolCall)) }),
  user: withMembers({ ...named, content }),
  tool: withMembers({ ...common, content, toolCallId: text, error: maybe(text), ...encrypted }),
  // Left out before: they are for display only.
  activity: anything,
  reasoning: withMembers({ ...common, content: text, ...encrypted }),
});

const runInput = withMembers({
  threadId: text,
  runId: text,
  protocolVersion: maybe(text),
  parentRunId: maybe(text),
  messages: listOf(message),
  tools: listOf(withMembers({ name: text, description: text, metadata: maybe(object) })),
  context: listOf(withMembers({ description: text, value: text })),
  resume: maybe(
    listOf(
      withMembers({
        interruptId: text,
        status: among("resolved", "cancelled"),
        metadata: maybe(object),
      }),
    ),
  ),
});
