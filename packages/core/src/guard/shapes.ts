import { EventType } from "@ag-ui/core";
import {
  bad,
  boolean,
  checkFields,
  id,
  integer,
  json,
  oneOf,
  optional,
  ownId,
  record,
  required,
  text,
} from "./fields.ts";
import type { Field } from "./fields.ts";
import { nameOfValue, notJson, toJson } from "../json/to-json.ts";
import {
  messages,
  activityPatch,
  encryptedValueType,
  patch,
  runOutcome,
  subagentOutcome,
  toolContent,
  usage,
} from "./payloads.ts";
import type { Repairer } from "./repairs.ts";
import { ulid } from "../base/ids.ts";
import type { Json } from "../contract/agent.ts";

/** An event whose fields are of the right types. Whether it is in the right place is another matter. */
export interface LooseEvent {
  type: EventType;
  entityId?: string;
  messageId?: string;
  parentMessageId?: string;
  parentSubagentRunId?: string;
  stepName?: string;
  subagentRunId?: string;
  toolCallId?: string;
  toolCallName?: string;
  [key: string]: unknown;
}

/** Where the events of a run go that keep the rules. */
export interface EventSink extends Repairer {
  send(event: LooseEvent): void;
}

interface Shape {
  readonly fields: readonly Field[];
  readonly known: ReadonlySet<string>;
}

const newId = (): string => ulid();
const common = [
  optional("timestamp", integer),
  optional("rawEvent", json),
  optional("metadata", record),
];
// Not every event may carry it, but none may carry null.
const tag = optional("subagentRunId", id);
// The official verifier looks at this field on all three subagent events.
const outcome = optional("outcome", subagentOutcome);

// Continuations without an id belong to what is open; only their place in the run shows which that is.
const openMessage = [optional("messageId", id)];
const openCall = [optional("toolCallId", id)];
const startMessage = [required("messageId", id, newId)];
const delta = required("delta", text);
const step = [required("stepName", text)];
const role = optional("role", oneOf("developer", "system", "assistant", "user"));
const name = optional("name", text);
const runIds = [optional("threadId", text), optional("runId", text)];
const activity = [required("messageId", id, newId), required("activityType", text)];

const shapes: ReadonlyMap<string, Shape> = new Map(
  Object.entries({
    [EventType.RUN_STARTED]: shape(
      ...runIds,
      optional("protocolVersion", text),
      optional("parentRunId", text),
      { ...optional("input", (value) => value), nullable: true },
    ),
    [EventType.RUN_FINISHED]: shape(
      ...runIds,
      optional("result", json),
      optional("outcome", runOutcome),
      optional("usage", usage),
    ),
    [EventType.RUN_ERROR]: shape(
      required("message", text, () => "The agent failed."),
      optional("code", text),
      optional("usage", usage),
    ),
    [EventType.STEP_STARTED]: shape(...step),
    [EventType.STEP_FINISHED]: shape(...step),
    [EventType.TEXT_MESSAGE_START]: shape(...startMessage, role, name),
    [EventType.TEXT_MESSAGE_CONTENT]: shape(...openMessage, delta),
    [EventType.TEXT_MESSAGE_END]: shape(...openMessage),
    [EventType.TEXT_MESSAGE_CHUNK]: shape(...openMessage, optional("delta", text), role, name),
    [EventType.TOOL_CALL_START]: shape(
      required("toolCallId", id, newId),
      required("toolCallName", text, () => "unknown"),
      optional("parentMessageId", id),
    ),
    [EventType.TOOL_CALL_ARGS]: shape(...openCall, delta),
    [EventType.TOOL_CALL_END]: shape(...openCall),
    [EventType.TOOL_CALL_CHUNK]: shape(
      ...openCall,
      optional("toolCallName", text),
      optional("parentMessageId", id),
      optional("delta", text),
    ),
    [EventType.TOOL_CALL_RESULT]: shape(
      required("messageId", ownId, newId),
      required("toolCallId", id),
      required("content", toolContent, () => ""),
      optional("role", oneOf("tool")),
    ),
    [EventType.STATE_SNAPSHOT]: shape(payload("snapshot")),
    [EventType.STATE_DELTA]: shape(required("delta", patch)),
    [EventType.MESSAGES_SNAPSHOT]: shape(required("messages", messages)),
    [EventType.ACTIVITY_SNAPSHOT]: shape(
      ...activity,
      required("content", record),
      optional("replace", boolean),
    ),
    [EventType.ACTIVITY_DELTA]: shape(...activity, required("patch", activityPatch)),
    [EventType.RAW]: shape(
      { ...payload("event"), check: jsonOrDescription, fill: () => null },
      optional("source", text),
    ),
    [EventType.CUSTOM]: shape(required("name", text), {
      ...payload("value"),
      fill: () => null,
    }),
    [EventType.REASONING_START]: shape(...startMessage),
    [EventType.REASONING_MESSAGE_START]: shape(
      ...startMessage,
      required("role", oneOf("reasoning"), () => "reasoning"),
    ),
    [EventType.REASONING_MESSAGE_CONTENT]: shape(...openMessage, delta),
    [EventType.REASONING_MESSAGE_END]: shape(...openMessage),
    [EventType.REASONING_MESSAGE_CHUNK]: shape(...openMessage, optional("delta", text)),
    [EventType.REASONING_END]: shape(...openMessage),
    [EventType.REASONING_ENCRYPTED_VALUE]: shape(
      required("subtype", oneOf("tool-call", "message")),
      required("entityId", id),
      required("encryptedValue", text),
      encryptedValueType,
    ),
    [EventType.SUBAGENT_STARTED]: shape(
      required("subagentRunId", id, newId),
      required("name", text, () => "subagent"),
      optional("description", text),
      optional("parentSubagentRunId", id),
      optional("parentToolCallId", id),
      optional("parentMessageId", id),
      outcome,
    ),
    [EventType.SUBAGENT_FINISHED]: shape(optional("result", json), outcome),
    [EventType.SUBAGENT_ERROR]: shape(
      required("message", text, () => "The subagent failed."),
      optional("code", text),
    ),
  } satisfies Record<EventType, Shape>),
);

/** True for the 31 types of AG-UI; the fields still have to be checked. */
export function isKnown(event: Json): event is LooseEvent {
  return typeof event.type === "string" && shapes.has(event.type);
}

/**
 * The event with its fields put right: the same object when nothing had to change, `bad` or `notJson`
 * when it cannot be an event of its type.
 */
export function checkEvent(
  event: LooseEvent,
  repairer: Repairer,
): LooseEvent | typeof bad | typeof notJson {
  const { fields, known } = shapes.get(event.type)!;
  const fixed = checkFields(event, fields, repairer);
  return fixed === bad || fixed === notJson ? fixed : checkStrangers(fixed, known, repairer);
}

// Fields that AG-UI does not know pass, but no encoder must stumble over them.
function checkStrangers(
  event: LooseEvent,
  known: ReadonlySet<string>,
  repairer: Repairer,
): LooseEvent {
  let fixed = event;
  for (const key in event) {
    if (known.has(key)) continue;
    const before = event[key];
    if (typeof before === "string" || before === undefined) continue;
    const after = toJson(before);
    if (after === before) continue;
    if (after === notJson) repairer.repair("not-json");
    if (fixed === event) fixed = { ...event };
    if (after === notJson) delete fixed[key];
    else fixed[key] = after;
  }
  return fixed;
}

function jsonOrDescription(value: unknown, repairer: Repairer): unknown {
  const data = toJson(value);
  if (data !== notJson) return data;
  repairer.repair("not-json");
  return nameOfValue(value);
}

function payload(key: string): Field {
  return { key, check: json, required: true, nullable: true };
}

function shape(...fields: readonly Field[]): Shape {
  const isTagged = fields.some(({ key }) => key === tag.key);
  const all = [...common, ...(isTagged ? [] : [tag]), ...fields];
  return { fields: all, known: new Set(["type", ...all.map((field) => field.key)]) };
}
