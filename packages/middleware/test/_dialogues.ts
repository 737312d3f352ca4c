import { agui, copilotkit, rest, threads, vercel } from "@holodeck/agui";
import type { AgentHandler, Protocol } from "@holodeck/agui";
import { runInput } from "@holodeck/agui-testing";

export interface Asked {
  readonly method?: string;
  /** `{thread}` is the one that an answer has named last. */
  readonly path: string;
  readonly accept?: string;
  readonly body?: unknown;
  /** How the questions `["Why?"]` are told in the answer, if they are. */
  readonly told?: string;
}

/** A way to speak a protocol: requests that start a run, read it again and ask about it, in order. */
export interface Dialogue {
  readonly name: string;
  readonly protocol: () => Protocol;
  readonly requests: readonly Asked[];
}

const custom = '"type":"CUSTOM","name":"suggested_questions","value":["Why?"]';
const run = { ...runInput(), protocolVersion: "1.0" };
const call = (method: string, more: object = {}): Asked => ({
  path: "/agui",
  body: { method, params: { agentId: "default" }, ...more },
});
const uiMessage = { id: "u", role: "user", parts: [{ type: "text", text: "Hi" }] };

/** Every protocol, and how it is spoken. */
export const dialogues: readonly Dialogue[] = [
  {
    name: "AG-UI",
    protocol: () => agui(),
    requests: [
      { path: "/agui", body: run, told: custom },
      { path: "/agui", body: runInput({ runId: "run-2" }), told: custom },
      {
        path: "/agui",
        accept: "application/vnd.ag-ui.event+proto",
        body: runInput({ runId: "run-3", threadId: "thread-3" }),
        told: "suggested_questions",
      },
      { method: "GET", path: "/agui/runs/run-2/events" },
      { method: "GET", path: "/agui/runs/run-2/events?offset=1", told: custom },
      { method: "GET", path: "/agui/info" },
    ],
  },
  {
    name: "CopilotKit",
    protocol: () => copilotkit(),
    requests: [
      { path: "/agui/agent/default/run", body: run, told: custom },
      { path: "/agui/agent/default/connect", body: { threadId: run.threadId } },
      { path: "/agui/agent/default/suggest", body: { ...run, runId: "s" }, told: custom },
      { ...call("agent/run", { body: runInput({ runId: "run-2" }) }), told: custom },
      call("agent/connect", { body: { threadId: run.threadId } }),
      call("info"),
      ...["messages", "events", "state"].map((what) => ({
        method: "GET",
        path: `/agui/threads/${run.threadId}/${what}`,
      })),
    ],
  },
  {
    name: "Vercel's UI message stream",
    protocol: () => vercel(),
    requests: [
      {
        path: "/api/chat",
        body: { id: "ui", trigger: "submit-message", messages: [uiMessage] },
        told: '"type":"data-suggested_questions"',
      },
      {
        path: "/api/chat?sdkVersion=6",
        body: { id: "ui", message: { ...uiMessage, id: "u2" } },
        told: '"data":["Why?"]',
      },
      { method: "GET", path: "/api/chat/ui/stream" },
    ],
  },
  {
    name: "Vercel's data stream",
    protocol: () => vercel(),
    requests: [
      {
        path: "/api/chat",
        body: { id: "v4", messages: [{ id: "u", role: "user", content: "Hi" }] },
        told: '8:[{"type":"suggested_questions","data":["Why?"]}]',
      },
      { method: "GET", path: "/api/chat?chatId=v4" },
    ],
  },
  {
    name: "REST",
    protocol: () => rest(),
    requests: [
      {
        path: "/agent/default/chat",
        body: { message: "Hi" },
        told: '"suggested_questions":["Why?"]',
      },
      {
        path: "/agent/default/chat/stream",
        body: { message: "Hi" },
        told: '"suggested_questions":["Why?"]',
      },
    ],
  },
  {
    name: "threads",
    protocol: () => threads(),
    requests: [
      {
        path: "/chat",
        body: { message: "Hi" },
        told: '"metadata":{"suggested_questions":["Why?"]}',
      },
      {
        path: "/chat",
        body: { message: "Hi", stream: false },
        told: '"metadata":{"suggested_questions":["Why?"]}',
      },
      { method: "GET", path: "/threads/{thread}" },
    ],
  },
];

/** Sends the requests of a dialogue, one after the other. */
export async function* speak(
  handler: AgentHandler,
  { requests }: Dialogue,
): AsyncGenerator<{ asked: Asked; status: number; headers: Headers; text: string }> {
  let thread = "";
  for (const asked of requests) {
    const { method = "POST", path, accept = "*/*", body } = asked;
    const response = await handler.fetch(
      new Request(`http://test.local${path.replace("{thread}", thread)}`, {
        method,
        headers: { accept, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    const { status, headers } = response;
    thread = headers.get("x-thread-id") ?? thread;
    yield { asked, status, headers, text: new TextDecoder().decode(await response.arrayBuffer()) };
  }
}
