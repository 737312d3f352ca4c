import type { Json, Message } from "@holodeck/agui-core";

type UserPart = Exclude<Extract<Message, { role: "user" }>["content"], string>[number];

/** A message of a thread as items of a request. */
export function toInputItems(message: Message): Json[] {
  const { id, role } = message;
  const status = "completed";
  if (role === "user") {
    const { content } = message;
    const parts = typeof content === "string" ? [inputText(content)] : content.map(toPart);
    return [{ type: "message", id, role, status, content: parts }];
  }
  if (role === "tool") {
    const { toolCallId, content } = message;
    const output = typeof content === "string" ? content : JSON.stringify(content);
    return [{ type: "function_call_output", id, call_id: toolCallId, output, status }];
  }
  if (role !== "assistant") return [];
  const { content, toolCalls = [] } = message;
  const text = { type: "output_text", text: content, annotations: [] };
  return [
    ...(content ? [{ type: "message", id, role, status, content: [text] }] : []),
    ...toolCalls.map((call) => ({
      type: "function_call",
      id: `fc_${call.id}`,
      call_id: call.id,
      name: call.function.name,
      arguments: call.function.arguments,
      status,
    })),
  ];
}

function inputText(text: string): Json {
  return { type: "input_text", text };
}

function toPart(part: UserPart): Json {
  if (part.type === "text") return inputText(part.text);
  const { source, metadata } = part;
  const { filename } = (metadata ?? {}) as { filename?: unknown };
  const isImage = part.type === "image";
  if (source.type === "file") {
    return { type: isImage ? "input_image" : "input_file", file_id: source.value };
  }
  const url =
    source.type === "data" ? `data:${source.mimeType};base64,${source.value}` : source.value;
  if (isImage) return { type: "input_image", image_url: url, detail: "auto" };
  const name = typeof filename === "string" ? { filename } : {};
  return source.type === "data"
    ? { type: "input_file", file_data: url, ...name }
    : { type: "input_file", file_url: url, ...name };
}
