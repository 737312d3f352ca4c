import { ulid } from "@holodeck/agui-core";
import { isMessageId, isRecord, own } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";
import { fault } from "./faults.ts";
import { normaliseContent } from "./normalise-content.ts";
import { each, pick } from "./shape.ts";
import type { Notes, Shape } from "./shape.ts";

const label = "messages[]: ";
const common = ["subagentRunId", "encryptedValue", "metadata"];
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
  optional: ["encryptedValue", "metadata"],
};
const functionShape: Shape = {
  label: "messages[].toolCalls[].function: ",
  required: ["name", "arguments"],
  optional: [],
};

/** One message of the input as AG-UI 1.0 writes it, with an id. */
export function normaliseMessage(value: Json, index: number, notes: Notes): Json {
  const shape = shapes.get(own(value, "role"));
  // An unknown role is the schema's to report; the other members cannot be judged without it.
  if (shape === undefined) return value;
  const message = pick(value, shape, notes);
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
    message.toolCalls = each(toolCalls, (call) => normaliseToolCall(call, notes), { path, notes });
  }
  return message;
}

function normaliseToolCall(value: Json, notes: Notes): Json {
  const call = pick(value, toolCallShape, notes);
  if (!isRecord(call.function)) return call;
  const target = pick(call.function, functionShape, notes);
  // Some clients keep the arguments parsed; AG-UI requires the text.
  if (typeof target.arguments === "object" && target.arguments !== null) {
    target.arguments = JSON.stringify(target.arguments);
  }
  return { ...call, function: target };
}
