import { ulid } from "@holodeck/agui-core";
import { isMessageId, isRecord, own } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";
import { fault } from "./faults.ts";
import { normaliseContent } from "./normalise-content.ts";
import { each, pick, warn } from "./shape.ts";
import type { Notes, Shape } from "./shape.ts";

const label = "messages[]: ";
const encrypted = ["encryptedValue", "encryptedValueType"];
const common = ["subagentRunId", ...encrypted, "metadata"];
const textMessage: Shape = {
  label,
  snake: true,
  required: ["id", "role", "content"],
  optional: [...common, "name"],
};
const shapes: ReadonlyMap<unknown, Shape> = new Map<unknown, Shape>([
  ["developer", textMessage],
  ["system", textMessage],
  ["user", textMessage],
  [
    "assistant",
    {
      label,
      snake: true,
      required: ["id", "role"],
      optional: [...common, "name", "content", "toolCalls"],
    },
  ],
  [
    "tool",
    {
      label,
      snake: true,
      required: ["id", "role", "content", "toolCallId"],
      optional: [...common, "error"],
    },
  ],
  ["reasoning", { label, snake: true, required: ["id", "role", "content"], optional: common }],
]);

const toolCallShape: Shape = {
  label: "messages[].toolCalls[]: ",
  snake: true,
  required: ["id", "type", "function"],
  optional: [...encrypted, "metadata"],
};
const functionShape: Shape = {
  label: "messages[].toolCalls[].function: ",
  required: ["name", "arguments"],
  optional: [],
};

/** One message of the input as AG-UI writes it, with an id. */
export function normaliseMessage(value: Json, index: number, notes: Notes): Json {
  const shape = shapes.get(own(value, "role"));
  // An unknown role is the schema's to report; the other members cannot be judged without it.
  if (shape === undefined) return value;
  const message = pickEncrypted(value, shape, { path: ["messages", index], notes });
  message.id ??= ulid();
  if (typeof message.id === "string" && !isMessageId(message.id)) {
    notes.faults.push(fault(["messages", index, "id"], message.id, "1 to 1024 characters"));
  }
  const { role, content, toolCalls } = message;
  if (role === "user" || role === "tool") {
    const path = `messages.${index}.content`;
    message.content = each(content, (part, at) => normaliseContent(part, `${path}.${at}`, notes), {
      path,
      notes,
    });
  }
  if (toolCalls !== undefined) {
    const path = `messages.${index}.toolCalls`;
    const at = (call: number): Place => ({ path: ["messages", index, "toolCalls", call], notes });
    message.toolCalls = each(toolCalls, (call, number) => normaliseToolCall(call, at(number)), {
      path,
      notes,
    });
  }
  return message;
}

interface Place {
  readonly path: readonly PropertyKey[];
  readonly notes: Notes;
}

/** Also checks `encryptedValueType`, which AG-UI's schemas of 1.0 do not have. */
function pickEncrypted(value: Json, shape: Shape, { path, notes }: Place): Json {
  const picked = pick(value, shape, notes);
  const { encryptedValueType: type } = picked;
  if (type === undefined) return picked;
  if (typeof type !== "string") {
    notes.faults.push(fault([...path, "encryptedValueType"], type, "a string"));
  } else if (picked.encryptedValue === undefined) {
    warn(notes, `${shape.label}encryptedValueType without encryptedValue was ignored.`);
    delete picked.encryptedValueType;
  }
  return picked;
}

function normaliseToolCall(value: Json, place: Place): Json {
  const call = pickEncrypted(value, toolCallShape, place);
  if (!isRecord(call.function)) return call;
  const target = pick(call.function, functionShape, place.notes);
  // Some clients keep the arguments parsed; AG-UI requires the text.
  if (typeof target.arguments === "object" && target.arguments !== null) {
    target.arguments = JSON.stringify(target.arguments);
  }
  return { ...call, function: target };
}
