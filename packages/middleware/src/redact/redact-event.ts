import type { BaseEvent } from "@holodeck/agui-core";
import { redactJson, redactJsonText } from "./redact-json.ts";
import type { Structure } from "./redact-json.ts";
import type { TextRules } from "./redact-text.ts";

// What the protocol itself goes by, in messages, content parts and interrupts.
const structure: Structure = {
  kept: new Set([
    "activityType",
    "encryptedValue",
    "encryptedValueType",
    "id",
    "mimeType",
    "pendingToolCallIds",
    "role",
    "toolCallId",
    "type",
  ]),
  within: new Set(["interrupts", "source"]),
};

type FieldRule = (value: unknown, rules: TextRules) => unknown;

const json: FieldRule = (value, rules) => redactJson(value, rules);
const text: FieldRule = (value, rules) =>
  typeof value === "string" ? redactJsonText(value, rules) : value;

const outcome: FieldRule = (value, rules) => redactJson(value, rules, structure);

// Paths are addresses in the client's state; only values are content.
const patch: FieldRule = (value, rules) => {
  if (!Array.isArray(value)) return value;
  return value.map((operation: { value?: unknown }) =>
    "value" in operation ? { ...operation, value: redactJson(operation.value, rules) } : operation,
  );
};

const content: FieldRule = (value, rules) => {
  if (typeof value === "string") return redactJsonText(value, rules);
  // Parts have a form of ours; the content of an activity is its author's own.
  return redactJson(value, rules, Array.isArray(value) ? structure : undefined);
};

const messages: FieldRule = (value, rules) => {
  if (!Array.isArray(value)) return value;
  return value.map(({ toolCalls, content: original, ...rest }: Record<string, unknown>) => ({
    ...(redactJson(rest, rules, structure) as object),
    ...(original !== undefined && { content: content(original, rules) }),
    ...(Array.isArray(toolCalls) && {
      toolCalls: toolCalls.map((call) => toolCall(call as ToolCall, rules)),
    }),
  }));
};

interface ToolCall {
  readonly function: { readonly arguments: string };
}

function toolCall(call: ToolCall, rules: TextRules): object {
  const args = redactJsonText(call.function.arguments, rules);
  return { ...call, function: { ...call.function, arguments: args } };
}

// The fields that hold content; all others are ids, names and numbers of the protocol.
const fields: Readonly<Record<string, FieldRule>> = {
  content,
  delta: patch,
  description: text,
  event: json,
  message: text,
  messages,
  metadata: json,
  outcome,
  patch,
  rawEvent: json,
  result: json,
  snapshot: json,
  value: json,
};

/** The event without what the rules take out of it; ids, names and types stay. Deltas are not its concern. */
export function redactEvent(event: BaseEvent, rules: TextRules): BaseEvent {
  let shown = event;
  for (const key of Object.keys(event)) {
    const rule = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (!rule) continue;
    const value = rule(event[key], rules);
    if (value !== event[key]) shown = { ...shown, [key]: value };
  }
  return shown;
}
