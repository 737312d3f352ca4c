// Every operation of a handler as a caller who is not the owner of the ids in it would try it.
export interface Ids {
  readonly threadId: string;
  /** Of a REST session: a ULID. */
  readonly sessionId: string;
  readonly runId: string;
}

/** What is known only when the owner's client tool was asked for, and when a response of its was made. */
export interface Asked {
  readonly executionId: string;
  readonly responseId: string;
}

export interface Attempt {
  /** `{responseId}` stands for the owner's response. */
  readonly path: string;
  /** A function: made of what the owner was asked. */
  readonly body?: unknown;
  /** What it may do with another caller's ids. */
  readonly answer: "creates" | "is not found" | "shows nothing";
  /** Instead of 200. */
  readonly status?: number;
}

const message = { id: "m", role: "user" };

/** For attempts at a server where nothing was asked. */
export const nothingAsked: Asked = {
  executionId: "unknown",
  responseId: "resp_01ARZ3NDEKTSV4RRFFQ69G5FAW",
};

/** Every operation of the OpenAPI document. A new one has no line here, and `isolation.test.ts` fails. */
export function attemptsOn({ threadId, sessionId, runId }: Ids): Record<string, Attempt[]> {
  const run = { threadId, runId, protocolVersion: "1.0", messages: [] };
  const [thread, session, place] = [threadId, sessionId, runId].map(toSegment);
  const inside = (method: string, params: object, inner?: unknown): object => ({
    method,
    params: { agentId: "default", ...params },
    ...(inner === undefined ? {} : { body: inner }),
  });
  const resource = (httpMethod: string, path: string): object =>
    inside("resource/request", { httpMethod, path: `/threads/${thread}${path}` });
  const uiChat = {
    id: threadId,
    messages: [{ ...message, parts: [{ type: "text", text: "hi" }] }],
  };
  const v4Chat = { id: threadId, messages: [{ ...message, content: "hi" }] };
  const vercelAt = (path: string): Record<string, Attempt[]> => ({
    [`POST ${path}`]: [
      { path, body: uiChat, answer: "creates" },
      { path, body: v4Chat, answer: "creates" },
      { path, body: { id: threadId, message: uiChat.messages[0] }, answer: "creates" },
    ],
    [`GET ${path}`]: [{ path: `${path}?chatId=${thread}`, answer: "shows nothing" }],
    [`GET ${path}/{id}/stream`]: [
      { path: `${path}/${thread}/stream`, answer: "shows nothing", status: 204 },
    ],
    [`POST ${path}/{id}/stop`]: [{ path: `${path}/${thread}/stop`, answer: "shows nothing" }],
  });
  const rest = { message: "hi", session_id: sessionId };
  const stop = `/agui/agent/default/stop/${thread}`;
  const [completions, responses] = ["/v1/chat/completions", "/v1/responses"];
  const said = { role: "user", content: "hi" };
  const onThread = { metadata: { thread_id: threadId } };
  const approval = [
    { type: "mcp_approval_response", approval_request_id: "mcpr_approval-1", approve: true },
  ];
  const continued =
    (more: object) =>
    ({ responseId }: Asked): object => ({
      input: "hi",
      previous_response_id: responseId,
      ...more,
    });
  return {
    "POST /agui": [
      { path: "/agui", body: run, answer: "creates" },
      { path: "/agui", body: inside("agent/run", {}, run), answer: "creates" },
      { path: "/agui", body: inside("agent/connect", {}, { threadId }), answer: "shows nothing" },
      { path: "/agui", body: inside("agent/stop", { threadId }), answer: "shows nothing" },
      { path: "/agui", body: resource("GET", "/messages"), answer: "is not found" },
      { path: "/agui", body: resource("DELETE", ""), answer: "is not found" },
    ],
    "GET /agui": [
      { path: `/agui?threadId=${thread}`, answer: "shows nothing" },
      { path: `/agui?runId=${place}`, answer: "is not found" },
    ],
    "GET /agui/info": [{ path: "/agui/info", answer: "shows nothing" }],
    "GET /agui/runs/{runId}/events": [
      { path: `/agui/runs/${place}/events`, answer: "is not found" },
    ],
    "POST /agui/runs/{runId}/stop": [{ path: `/agui/runs/${place}/stop`, answer: "is not found" }],
    "POST /agui/agent/{agentId}/run": [
      { path: "/agui/agent/default/run", body: run, answer: "creates" },
    ],
    "POST /agui/agent/{agentId}/connect": [
      { path: "/agui/agent/default/connect", body: { threadId }, answer: "shows nothing" },
    ],
    "POST /agui/agent/{agentId}/suggest": [
      { path: "/agui/agent/default/suggest", body: run, answer: "shows nothing" },
    ],
    "POST /agui/agent/{agentId}/stop/{threadId}": [
      { path: stop, answer: "shows nothing" },
      { path: stop, body: { runId }, answer: "shows nothing" },
    ],
    "GET /agui/threads": [{ path: "/agui/threads", answer: "shows nothing" }],
    "PATCH /agui/threads/{threadId}": [
      { path: `/agui/threads/${thread}`, body: { name: "Mine" }, answer: "is not found" },
    ],
    "DELETE /agui/threads/{threadId}": [
      { path: `/agui/threads/${thread}`, answer: "is not found" },
    ],
    "POST /agui/threads/{threadId}/archive": [
      { path: `/agui/threads/${thread}/archive`, body: {}, answer: "is not found" },
    ],
    ...Object.fromEntries(
      ["messages", "events", "state"].map((what): [string, Attempt[]] => [
        `GET /agui/threads/{threadId}/${what}`,
        [{ path: `/agui/threads/${thread}/${what}`, answer: "is not found" }],
      ]),
    ),
    ...vercelAt("/api/chat"),
    ...vercelAt("/chat"),
    "POST /chat": [
      ...vercelAt("/chat")["POST /chat"]!,
      { path: "/chat", body: { message: "hi", thread_id: threadId }, answer: "is not found" },
      {
        path: "/chat",
        body: { message: "hi", thread_id: threadId, stream: false },
        answer: "is not found",
      },
    ],
    "POST /agent/{name}/chat": [{ path: "/agent/default/chat", body: rest, answer: "creates" }],
    "POST /agent/{name}/chat/stream": [
      { path: "/agent/default/chat/stream", body: rest, answer: "creates" },
    ],
    // Absent or another caller's: it is gone either way.
    "DELETE /sessions/{id}": [
      { path: `/sessions/${session}`, answer: "shows nothing", status: 204 },
    ],
    "GET /threads": [{ path: "/threads", answer: "shows nothing" }],
    "GET /threads/{id}": [{ path: `/threads/${thread}`, answer: "is not found" }],
    "POST /threads/{id}/abort": [{ path: `/threads/${thread}/abort`, answer: "is not found" }],
    "DELETE /threads/{id}": [{ path: `/threads/${thread}`, answer: "is not found" }],
    "POST /tool_result": [
      {
        path: "/tool_result",
        body: ({ executionId }: Asked) => ({
          execution_id: executionId,
          execution_time_ms: 1,
          result: "from another",
        }),
        answer: "is not found",
      },
    ],
    "GET /v1/models": [{ path: "/v1/models", answer: "shows nothing" }],
    "GET /v1/models/{id}": [{ path: "/v1/models/default", answer: "shows nothing" }],
    "POST /v1/chat/completions": [
      { path: completions, body: { messages: [said] }, answer: "shows nothing" },
      { path: completions, body: { messages: [said], ...onThread }, answer: "creates" },
      {
        path: completions,
        body: { messages: [said], stream: true, ...onThread },
        answer: "creates",
      },
    ],
    "POST /v1/responses": [
      { path: responses, body: { input: "hi", conversation: threadId }, answer: "creates" },
      { path: responses, body: continued({}), answer: "is not found" },
      { path: responses, body: continued({ store: false, stream: true }), answer: "is not found" },
      { path: responses, body: continued({ input: approval }), answer: "is not found" },
      {
        path: responses,
        body: ({ responseId }: Asked) => ({
          stream: true,
          // The key of a response is the beginning of its id.
          input: [{ type: "item_reference", id: `msg_${responseId.slice(5, 21)}_0` }],
        }),
        answer: "is not found",
      },
    ],
    "GET /v1/responses/{id}": [
      { path: `${responses}/{responseId}`, answer: "is not found" },
      { path: `${responses}/{responseId}?stream=true&starting_after=0`, answer: "is not found" },
    ],
    "POST /v1/responses/{id}/cancel": [
      { path: `${responses}/{responseId}/cancel`, answer: "is not found" },
    ],
    "GET /v1/responses/{id}/input_items": [
      { path: `${responses}/{responseId}/input_items`, answer: "is not found" },
    ],
    ...Object.fromEntries(
      ["/health", "/ready", "/health/agent", "/openapi.json"].map((path): [string, Attempt[]] => [
        `GET ${path}`,
        [{ path, answer: "shows nothing" }],
      ]),
    ),
  };
}

/** The request of an attempt, as that user. `user` is what the test's `authenticate` reads from `x-user`. */
export function toRequest(
  route: string,
  { path, body: given }: Pick<Attempt, "path" | "body">,
  { user, ...asked }: Asked & { readonly user: string },
): Request {
  const place = path.replace("{responseId}", asked.responseId);
  const sent: unknown = typeof given === "function" ? given(asked) : given;
  return new Request(`http://test.local${place}`, {
    method: route.split(" ")[0]!,
    headers: {
      "x-user": user,
      ...(sent === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
  });
}

/** An id as one segment of a path. Half a surrogate pair has no UTF-8: it is sent as three bytes, as some clients do. */
export function toSegment(id: string): string {
  return id.replaceAll(/[^\w.~-]/gu, (char) => {
    const code = char.charCodeAt(0);
    const isHalf = char.length === 1 && code >= 0xd800 && code <= 0xdfff;
    if (!isHalf) return encodeURIComponent(char);
    const bytes = [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63)];
    return bytes.map((byte) => `%${byte.toString(16).toUpperCase()}`).join("");
  });
}
