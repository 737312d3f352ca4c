import type { Json } from "@holodeck/agui-core";

const text = { type: "string" };
const open = { type: "object", additionalProperties: true };
const tags = ["openai"];

const failure: Json = {
  description: "An error in OpenAI's form.",
  content: {
    "application/json": {
      schema: {
        type: "object",
        required: ["error"],
        properties: {
          error: {
            type: "object",
            required: ["message", "type", "param", "code"],
            properties: {
              message: text,
              type: text,
              param: { type: ["string", "null"] },
              code: { type: ["string", "null"] },
            },
          },
        },
      },
    },
  },
};

const model: Json = {
  type: "object",
  required: ["id", "object", "created", "owned_by"],
  properties: {
    id: text,
    object: { const: "model" },
    created: { type: "integer" },
    owned_by: text,
    name: text,
    description: text,
  },
};

const chatBody: Json = {
  type: "object",
  description: "A chat completion. Further parameters reach the agent as forwardedProps.",
  required: ["messages"],
  properties: {
    model: { ...text, description: "The id of an agent; by default the default agent." },
    messages: { type: "array", minItems: 1, items: { ...open, required: ["role"] } },
    tools: { type: ["array", "null"], items: open },
    stream: { type: ["boolean", "null"] },
    stream_options: {
      type: ["object", "null"],
      properties: { include_usage: { type: "boolean" } },
    },
    n: { type: ["integer", "null"], enum: [1, null] },
    metadata: {
      type: ["object", "null"],
      properties: { thread_id: { ...text, description: "A thread that the server keeps." } },
    },
  },
};

/** The OpenAPI operation of `GET {path}/models`. */
export function listOperation(): Json {
  const list = {
    type: "object",
    properties: { object: { const: "list" }, data: { type: "array", items: model } },
  };
  return {
    operationId: "openaiListModels",
    summary: "Lists the agents as models.",
    tags,
    responses: { "200": json("The agents.", list), default: failure },
  };
}

/** The OpenAPI operation of `GET {path}/models/{id}`. */
export function modelOperation(): Json {
  return {
    operationId: "openaiGetModel",
    summary: "Describes an agent as a model.",
    tags,
    responses: { "200": json("The agent.", model), default: failure },
  };
}

/** The OpenAPI operation of `POST {path}/chat/completions`. */
export function completionOperation(): Json {
  return {
    operationId: "openaiChatCompletion",
    summary: "Asks an agent for a chat completion, as one object or as a stream of chunks.",
    tags,
    requestBody: { required: true, content: { "application/json": { schema: chatBody } } },
    responses: {
      "200": {
        description: "The completion, or its chunks and [DONE].",
        content: {
          "application/json": { schema: open },
          "text/event-stream": { schema: text },
        },
      },
      default: failure,
    },
  };
}

const responseBody: Json = {
  type: "object",
  description: "A response. Further parameters reach the agent as forwardedProps.",
  properties: {
    model: { ...text, description: "The id of an agent; by default the default agent." },
    input: { description: "A text, or a list of items.", type: ["string", "array", "null"] },
    instructions: { type: ["string", "null"] },
    previous_response_id: { type: ["string", "null"] },
    conversation: { description: "The id of a thread, or an object with it." },
    tools: { type: ["array", "null"], items: open },
    stream: { type: ["boolean", "null"] },
    background: { type: ["boolean", "null"] },
    store: { type: ["boolean", "null"] },
  },
};

const responseOrStream: Json = {
  description: "The response, or its events and [DONE].",
  content: { "application/json": { schema: open }, "text/event-stream": { schema: text } },
};

/** The OpenAPI operation of `POST {path}/responses`. */
export function createOperation(): Json {
  return {
    operationId: "openaiCreateResponse",
    summary: "Asks an agent for a response, as one object, as a stream, or in the background.",
    tags,
    requestBody: { required: true, content: { "application/json": { schema: responseBody } } },
    responses: { "200": responseOrStream, default: failure },
  };
}

/** The OpenAPI operation of `GET {path}/responses/{id}`. */
export function getOperation(): Json {
  return {
    operationId: "openaiGetResponse",
    summary: "Returns a stored response, or its stream after an event.",
    tags,
    parameters: [
      { name: "stream", in: "query", schema: { type: "boolean" } },
      { name: "starting_after", in: "query", schema: { type: "integer" } },
    ],
    responses: { "200": responseOrStream, default: failure },
  };
}

/** The OpenAPI operation of `POST {path}/responses/{id}/cancel`. */
export function cancelOperation(): Json {
  return {
    operationId: "openaiCancelResponse",
    summary: "Stops a response.",
    tags,
    responses: { "200": json("The response.", open), default: failure },
  };
}

/** The OpenAPI operation of `GET {path}/responses/{id}/input_items`. */
export function inputItemsOperation(): Json {
  return {
    operationId: "openaiListInputItems",
    summary: "Lists what the request of a response brought.",
    tags,
    parameters: [
      { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: 100 } },
      { name: "order", in: "query", schema: { type: "string", enum: ["asc", "desc"] } },
      { name: "after", in: "query", schema: text },
    ],
    responses: { "200": json("The items.", open), default: failure },
  };
}

function json(description: string, schema: Json): Json {
  return { description, content: { "application/json": { schema } } };
}
