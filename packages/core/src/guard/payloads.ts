import { isRecord } from "../json/record.ts";
import {
  bad,
  count,
  id,
  list,
  listOf,
  object,
  oneOf,
  optional,
  plain,
  record,
  required,
  text,
  variant,
} from "./fields.ts";
import type { Check, Field } from "./fields.ts";
import { notJson, toJson } from "../json/to-json.ts";
import type { Repairer } from "./repairs.ts";
import { ulid } from "../base/ids.ts";

// Parsing a pointer with a regular expression is linear here: a segment cannot contain its separator.
const pointer = /^(?:\/(?:[^/~]|~[01])*)*$/;

/** RFC 6902. One wrong operation makes the patch unusable, since a patch is all or nothing. */
export const patch: Check = plain(listOf(isOperation));

/** A patch after which the content of an activity is still an object, as far as the patch shows. */
export const activityPatch: Check = (value, repairer) => {
  const operations = patch(value, repairer);
  return Array.isArray(operations) && operations.some(endsContent) ? bad : operations;
};

const notNull: Check = (value) => (value === null ? bad : value);
const notEmpty =
  (check: Check): Check =>
  (value, repairer) => {
    const items = check(value, repairer);
    return Array.isArray(items) && items.length === 0 ? bad : items;
  };

const media = object(
  optional("id", text),
  required(
    "source",
    variant("type", {
      data: object(required("value", text), required("mimeType", text)),
      url: object(required("value", text), optional("mimeType", text)),
      file: object(required("value", text), optional("provider", text), optional("mimeType", text)),
    }),
  ),
  optional("metadata", notNull),
);

const part = variant("type", {
  text: object(optional("id", text), required("text", text), optional("metadata", notNull)),
  image: media,
  audio: media,
  video: media,
  document: media,
});

/** The output of a tool: text, content parts, or any other value as its JSON text. */
export const toolContent: Check = (value, repairer) => {
  if (typeof value === "string") return value;
  if (typeof value !== "object") return text(value, repairer);
  const data = toJson(value);
  if (data === notJson) return notJson;
  const parts = allParts(data, repairer);
  if (parts !== bad) return parts;
  repairer.repair("wrong-type");
  return JSON.stringify(data);
};

/** What kind of value an `encryptedValue` is, in words of the agent. */
export const encryptedValueType: Field = optional("encryptedValueType", text);

const emptyText = (): string => "";
const content = required("content", text, emptyText);
const contentOrParts = required(
  "content",
  (value, repairer) => (Array.isArray(value) ? allParts(value, repairer) : text(value, repairer)),
  emptyText,
);

const encrypted = [optional("encryptedValue", text), encryptedValueType];

/** An object without the type of a value that it does not have. */
function labelled(check: Check): Check {
  return (value, repairer) => {
    const checked = check(value, repairer);
    if (!isRecord(checked) || checked.encryptedValueType === undefined) return checked;
    if (checked.encryptedValue !== undefined) return checked;
    repairer.repair("missing-field");
    const { encryptedValueType: _, ...rest } = checked;
    return rest;
  };
}

const toolCall = labelled(
  object(
    required("id", id),
    required("type", oneOf("function"), () => "function"),
    required("function", object(required("name", text), required("arguments", text, emptyText))),
    ...encrypted,
    optional("metadata", record),
  ),
);

const calls = optional("toolCalls", list(toolCall));
// Only an assistant makes calls. Elsewhere the official verifier would learn of them, and the official
// client, which strips them first, would not.
const noCalls = optional("toolCalls", () => bad);

function message(...fields: readonly Field[]): Check {
  return labelled(
    object(
      required("id", id),
      optional("subagentRunId", id),
      optional("metadata", record),
      ...encrypted,
      ...(fields.includes(calls) ? [] : [noCalls]),
      ...fields,
    ),
  );
}

const instruction = message(content, optional("name", text));

/** A conversation; messages without an id, a known role or their essentials are left out. */
export const messages: Check = plain(
  list(
    variant("role", {
      developer: instruction,
      system: instruction,
      user: message(contentOrParts, optional("name", text)),
      assistant: message(optional("content", text), optional("name", text), calls),
      tool: message(contentOrParts, required("toolCallId", id), optional("error", text)),
      activity: message(required("activityType", text), required("content", record)),
      reasoning: message(content),
    }),
  ),
);

/** Token counts. What is no count is left out. */
export const usage: Check = plain(
  list(
    object(
      optional("provider", text),
      optional("model", text),
      optional("inputTokens", count),
      optional("outputTokens", count),
      optional("totalTokens", count),
      optional("reasoningTokens", count),
      optional("cachedInputTokens", count),
      optional("cacheWriteInputTokens", count),
    ),
  ),
);

/** At least one question to the user. */
export const interrupts: Check = notEmpty(
  plain(
    list(
      object(
        required("id", id, () => ulid()),
        required("reason", text, () => "input_required"),
        optional("message", text),
        optional("toolCallId", id),
        optional("responseSchema", record),
        optional("expiresAt", text),
        optional("metadata", record),
        optional("subagentRunId", id),
      ),
    ),
  ),
);

/** How a run ended. */
export const runOutcome: Check = plain(
  variant("type", {
    success: object(optional("pendingToolCallIds", list(id))),
    interrupt: object(required("interrupts", interrupts)),
    cancelled: object(),
  }),
);

/** How a subagent ended. */
export const subagentOutcome: Check = plain(
  variant("type", {
    success: object(),
    suspended: object(optional("interruptIds", list(id))),
  }),
);

const noRepairs: Repairer = { repair() {} };

function allParts(value: unknown, repairer: Repairer): unknown {
  if (!Array.isArray(value)) return bad;
  // Dry first: a list of something else is no list of broken parts.
  if (value.some((item) => part(item, noRepairs) === bad)) return bad;
  return list(part)(value, repairer);
}

function endsContent({ op, path, value }: Record<string, unknown>): boolean {
  return (
    path === "" && (op === "remove" || ((op === "add" || op === "replace") && !isRecord(value)))
  );
}

function isOperation(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { from, path } = value;
  if (!isPointer(path)) return false;
  switch (value.op) {
    case "add":
    case "replace":
    case "test":
      return value.value !== undefined;
    case "move":
      // Nothing can be moved into itself; a client that tried would hold a cycle.
      return isPointer(from) && !path.startsWith(`${from}/`);
    case "copy":
      return isPointer(from);
    default:
      return value.op === "remove";
  }
}

function isPointer(value: unknown): value is string {
  return typeof value === "string" && pointer.test(value);
}
