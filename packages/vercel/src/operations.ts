import type { Json } from "@holodeck/agui-core";

const text = { type: "string" };
const open = { type: "object", additionalProperties: true };

const uiMessage: Json = {
  type: "object",
  required: ["role"],
  properties: {
    id: text,
    role: { type: "string", enum: ["system", "user", "assistant"] },
    parts: { type: "array", items: { ...open, required: ["type"], properties: { type: text } } },
    content: { type: "string", description: "Before AI SDK 5." },
    metadata: {},
  },
};

const chatBody: Json = {
  type: "object",
  description:
    "What useChat or useCompletion sends. Further members reach the agent as forwardedProps.",
  properties: {
    id: { ...text, description: "The chat, which is the thread." },
    messages: { type: "array", items: uiMessage },
    message: { ...uiMessage, description: "The last message only; the thread has the others." },
    prompt: { ...text, description: "Of useCompletion." },
    trigger: { type: "string", enum: ["submit-message", "regenerate-message"] },
    messageId: text,
    agentId: { ...text, description: "By default the handler's default agent." },
    tools: { description: "Tools of the client: a list, or a map by name." },
  },
  anyOf: [{ required: ["messages"] }, { required: ["message"] }, { required: ["prompt"] }],
};

const streams: Json = {
  "text/event-stream": { schema: text },
  "text/plain": { schema: text },
};

/** The OpenAPI operation of `POST {path}`. */
export function chatOperation(path: string): Promise<Json> {
  return Promise.resolve({
    operationId: operationId("vercelChat", path),
    summary: "Runs the agent for useChat or useCompletion of the AI SDK.",
    tags: ["vercel"],
    requestBody: { required: true, content: { "application/json": { schema: chatBody } } },
    responses: {
      "200": {
        description: "A UI message stream, or the data or text stream of older clients.",
        content: streams,
      },
    },
  });
}

/** The OpenAPI operations of the two ways to resume. */
export function resumeOperation(path: string, wire: "ui" | "data"): Promise<Json> {
  const responses = {
    "200": { description: "The stream from its start, then live.", content: streams },
    ...(wire === "ui" && { "204": { description: "Nothing runs." } }),
  };
  const summary = "Resumes the stream of a chat.";
  const operation = { summary, tags: ["vercel"], responses };
  if (wire === "ui") {
    return Promise.resolve({ operationId: operationId("vercelResume", path), ...operation });
  }
  const chatId = { name: "chatId", in: "query", required: true, schema: text };
  return Promise.resolve({
    operationId: operationId("vercelResumeByQuery", path),
    ...operation,
    parameters: [chatId],
  });
}

/** The OpenAPI operation of `POST {path}/:id/stop`. */
export function stopOperation(path: string): Promise<Json> {
  const schema = { type: "object", properties: { id: text, stopped: { type: "boolean" } } };
  const content = { "application/json": { schema } };
  return Promise.resolve({
    operationId: operationId("vercelStop", path),
    summary: "Stops the run of a chat.",
    tags: ["vercel"],
    responses: {
      "200": { description: "Nothing ran.", content },
      "202": { description: "The run is being stopped.", content },
    },
  });
}

// Ids are unique in a document, and one protocol may be mounted at several paths.
function operationId(name: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return `${name}${words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join("")}`;
}
