// Names that every JavaScript object has, wherever a request may contain a name: nothing is polluted, found or broken.
import { expect, test } from "vitest";
import { held } from "../../../../scripts/test-support/held.ts";
import { createAgentHandler } from "../../src/index.ts";
import type { AgentHandler } from "../../src/index.ts";
import { everyProtocol } from "../_every-protocol.ts";
import { memoryLogger, post } from "../_helpers.ts";

const names = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "isPrototypeOf",
  "__defineGetter__",
  "__lookupSetter__",
];

const say = { id: "m", role: "user", content: "hi" };
const run = { threadId: "t", protocolVersion: "1.0", messages: [say] };

/** JSON with a key of that name, which an object literal cannot always have. */
const keyed = (name: string): unknown => JSON.parse(`{${JSON.stringify(name)}:{"polluted":true}}`);

const get = (path: string, method = "GET"): Request =>
  new Request(`http://test.local${path}`, {
    method,
    headers: { "content-type": "application/json" },
  });
const envelope = (method: string, params: object, body?: unknown): Request =>
  post({ method, params: { agentId: "default", ...params }, body });
const call = (name: string, id: string): object => ({
  id,
  type: "function",
  function: { name, arguments: "{}" },
});

const completion = (more: object): Request =>
  post({ messages: [{ role: "user", content: "hi" }], ...more }, { path: "/v1/chat/completions" });
const response = (more: object): Request =>
  post({ input: "hi", ...more }, { path: "/v1/responses" });

/** Each place of a request that has a name. */
const places: Readonly<Record<string, (name: string) => Request>> = {
  "thread id": (name) => post({ ...run, threadId: name }),
  "run id": (name) => post({ ...run, runId: name }),
  "message id": (name) => post({ ...run, messages: [{ ...say, id: name }] }),
  "message role": (name) => post({ ...run, messages: [{ ...say, role: name }] }),
  "type of a content part": (name) =>
    post({ ...run, messages: [{ ...say, content: [{ type: name }] }] }),
  "key of state": (name) => post({ ...run, state: keyed(name) }),
  "key of forwardedProps": (name) => post({ ...run, forwardedProps: keyed(name) }),
  "key of context": (name) => post({ ...run, context: keyed(name) }),
  "key of the body": (name) => post({ ...run, ...(keyed(name) as object) }),
  "name of a client tool": (name) =>
    post({ ...run, tools: [{ name, description: "A tool.", parameters: {} }] }),
  "name and id of a call": (name) =>
    post({
      ...run,
      messages: [say, { id: "a", role: "assistant", content: "", toolCalls: [call(name, name)] }],
    }),
  "interrupt of resume": (name) =>
    post({ ...run, resume: [{ interruptId: name, status: "resolved", payload: keyed(name) }] }),
  "agent in the body": (name) => post({ ...run, agentId: name }),
  "agent in the path, CopilotKit": (name) => post(run, { path: `/agui/agent/${name}/run` }),
  "agent in the path, REST": (name) => post({ message: "hi" }, { path: `/agent/${name}/chat` }),
  "agent in the path, health": (name) => get(`/health/${name}`),
  "method of an envelope": (name) => envelope(name, {}, run),
  "resource of an envelope": (name) =>
    envelope("resource/request", { httpMethod: "GET", path: `/${name}/x/messages` }),
  "thread in the path": (name) => get(`/agui/threads/${name}/messages`),
  "resource of a thread": (name) => get(`/agui/threads/t/${name}`),
  "run in the path": (name) => get(`/agui/runs/${name}/events`),
  "metadata of a thread": (name) =>
    new Request("http://test.local/agui/threads/t", {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ metadata: keyed(name) }),
    }),
  "chat id": (name) => post({ id: name, messages: [say] }, { path: "/api/chat" }),
  "type of a part of useChat": (name) =>
    post({ id: "c", messages: [{ ...say, parts: [{ type: name }] }] }, { path: "/api/chat" }),
  "session of REST": (name) =>
    post({ message: "hi", session_id: name }, { path: "/agent/default/chat" }),
  "execution id": (name) =>
    post({ execution_id: name, execution_time_ms: 1, result: 1 }, { path: "/tool_result" }),
  "thread of threads": (name) => post({ message: "hi", thread_id: name }, { path: "/chat" }),
  "model of a chat completion": (name) => completion({ model: name }),
  "model in the path": (name) => get(`/v1/models/${name}`),
  "thread of a chat completion": (name) => completion({ metadata: { thread_id: name } }),
  "key of metadata of a chat completion": (name) => completion({ metadata: keyed(name) }),
  "key of a chat completion": (name) => completion(keyed(name) as object),
  "role of a chat completion": (name) => completion({ messages: [{ role: name, content: "hi" }] }),
  "part of a chat completion": (name) =>
    completion({ messages: [{ role: "user", content: [{ type: name, [name]: { url: "x" } }] }] }),
  "call of a chat completion": (name) =>
    completion({
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: "", tool_calls: [call(name, name)] },
        { role: "tool", tool_call_id: name, content: name },
      ],
    }),
  "function of a chat completion": (name) =>
    completion({ tools: [{ type: "function", function: { name, parameters: keyed(name) } }] }),
  "model of a response": (name) => response({ model: name }),
  "key of a response": (name) => response(keyed(name) as object),
  "item of a response": (name) => response({ input: [{ type: name, id: name, call_id: name }] }),
  "part of a response": (name) =>
    response({ input: [{ role: "user", content: [{ type: name, text: "x" }] }] }),
  "conversation of a response": (name) => response({ conversation: { id: name } }),
  "response before a response": (name) => response({ previous_response_id: name }),
  "tool of a response": (name) => response({ tools: [{ type: name, name }] }),
  "response in the path": (name) => get(`/v1/responses/${name}`),
  "items of a response": (name) => get(`/v1/responses/${name}/input_items?after=${name}`),
  "name in the query": (name) => get(`/agui/threads?agentId=${name}&${name}=1`),
};

// The name of an agent, of which there is none.
const agentPlaces = /^(agent in the (body|path, (CopilotKit|REST))|model (of|in) .*)$/;
const ownKeys = (): PropertyKey[] =>
  [Object.prototype, Array.prototype, Function.prototype].flatMap((one) => Reflect.ownKeys(one));

async function tryAll(handler: AgentHandler): Promise<{ tried: number; through: string[] }> {
  const before = ownKeys().length;
  const through: string[] = [];
  let tried = 0;
  await (await handler.fetch(post(run))).text();
  for (const [place, toRequest] of Object.entries(places)) {
    for (const name of names) {
      tried++;
      const response = await handler.fetch(toRequest(name));
      const text = await response.text();
      const isPolluted = ownKeys().length !== before || "polluted" in {};
      const isBroken = response.status >= 500 || /RUN_ERROR|response\.failed/.test(text);
      const isFound = agentPlaces.test(place) && response.status !== 404;
      if (isPolluted || isBroken || isFound) {
        through.push(`${place} ${name}: ${response.status} ${text.slice(0, 200)}`);
      }
    }
  }
  return { tried, through };
}

test("names of prototypes are names as others are", async () => {
  const handler = createAgentHandler(
    async ({ state, forwardedProps }) => {
      // As an agent that copies what it was given would.
      const copy = Object.assign({}, state, forwardedProps) as { polluted?: boolean };
      return `ok ${copy.polluted === true ? "polluted" : ""}`;
    },
    {
      logger: memoryLogger(),
      protocols: everyProtocol(),
      authenticate: () => ({ id: "ann" }),
    },
  );
  const { tried, through } = await tryAll(handler);
  held("names of prototypes as ids, agents, methods, keys and types", tried, through);
});

test("an agent that copies keys carelessly is noticed", async () => {
  const handler = createAgentHandler(
    async ({ forwardedProps }) => {
      for (const [key, value] of Object.entries((forwardedProps ?? {}) as object)) {
        if (key === "constructor") Object.assign(Object.prototype, value);
      }
      return "ok";
    },
    {
      logger: memoryLogger(),
      protocols: everyProtocol(),
      authenticate: () => ({ id: "ann" }),
    },
  );
  try {
    expect((await tryAll(handler)).through).not.toEqual([]);
  } finally {
    delete (Object.prototype as { polluted?: boolean }).polluted;
  }
});
