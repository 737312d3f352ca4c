// How a run is asked for: one request per protocol. `<id>` is new in every request.

const user = { id: "m1", role: "user", content: "hi" };

function aguiBody(messages = [user]) {
  return {
    threadId: "t<id>",
    runId: "r<id>",
    protocolVersion: "1.0",
    messages,
    tools: [],
    context: [],
    state: {},
    forwardedProps: {},
  };
}

/** A conversation of 200 messages, each of about a line. */
const history = Array.from({ length: 200 }, (_, index) => ({
  id: `m${index}`,
  role: index % 2 === 0 ? "user" : "assistant",
  content: `Message ${index}: ${"so wird aus einem langen Gespräch ein langer Verlauf. ".repeat(2)}`,
}));
history.push({ ...user, id: "last" });

export const requests = {
  agui: { path: "/agui", body: aguiBody() },
  aguiHistory: { path: "/agui", body: aguiBody(history) },
  proto: {
    path: "/agui",
    headers: { accept: "application/vnd.ag-ui.event+proto" },
    body: aguiBody(),
  },
  copilotkit: { path: "/agent/default/run", body: aguiBody() },
  copilotkitHistory: { path: "/agent/default/run", body: aguiBody(history) },
  vercelUi: {
    path: "/api/chat",
    body: {
      id: "t<id>",
      trigger: "submit-message",
      messages: [{ id: "m1", role: "user", parts: [{ type: "text", text: "hi" }] }],
    },
  },
  vercelData: {
    path: "/api/chat",
    body: { id: "t<id>", messages: [{ id: "m1", role: "user", content: "hi", parts: [] }] },
  },
  restJson: {
    path: "/agent/default/chat",
    headers: { accept: "application/json" },
    body: { message: "hi" },
  },
  rawJson: { path: "/json", headers: { accept: "application/json" }, body: { message: "hi" } },
  restStream: { path: "/agent/default/chat/stream", body: { message: "hi" } },
  openaiChat: {
    path: "/v1/chat/completions",
    body: { model: "default", stream: true, messages: [{ role: "user", content: "hi" }] },
  },
  openaiResponses: {
    path: "/v1/responses",
    body: { model: "default", stream: true, input: "hi" },
  },
  threads: { path: "/chat", body: { message: "hi" } },
  keptRun: { path: "/agui", body: { ...aguiBody(), threadId: "kept", runId: "kept" } },
  resume: { method: "GET", path: "/agui/runs/kept/events?offset=1" },
};
