// Sends one request of each kind to a handler on node:http and prints, as JSON, the rooms in the order of their visits.
// Run by scripts/trace.mjs, with the condition that resolves our packages to their sources.
import { createServer } from "node:http";
import { register } from "node:module";
import { setImmediate as nextTurn } from "node:timers/promises";

register("./trace-hooks.mjs", import.meta.url);
const from = (name) => import(new URL(`../../packages/${name}/src/index.ts`, import.meta.url));
const { createAgentHandler } = await from("agui");
const { toNodeHandler } = await from("node");
const { defineTool } = await from("tools");

const pay = defineTool({
  name: "pay",
  description: "Pays.",
  needsApproval: true,
  parameters: { type: "object", properties: { amount: { type: "number" } } },
  execute: ({ amount }) => `Paid ${amount}.`,
});

async function* hello() {
  yield "Hello ";
  yield "wor";
  await nextTurn();
  await nextTurn();
  yield "ld";
}

async function payer(_input, context) {
  return String(await context.callTool("pay", { amount: 50 }));
}

const silent = { debug() {}, info() {}, warn() {}, error: console.error };
const handler = createAgentHandler({ hello, payer }, { tools: [pay], logger: silent });
const server = createServer(toNodeHandler(handler));
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const base = `http://127.0.0.1:${server.address().port}`;
const user = { id: "u", role: "user" };
const traces = {};

async function send(path, body) {
  const headers = { "content-type": "application/json", accept: "text/event-stream" };
  const init = body ? { method: "POST", headers, body: JSON.stringify(body) } : {};
  const response = await fetch(base + path, init);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
  // What a run does after its last byte belongs to its request.
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  return text;
}

async function trace(name, path, body) {
  const rooms = [];
  globalThis.noteRoom = (room) => {
    if (rooms.at(-1) !== room) rooms.push(room);
  };
  const text = await send(path, body);
  globalThis.noteRoom = undefined;
  traces[name] = rooms;
  return text;
}

function inputOf(runId, more) {
  const messages = [{ ...user, content: "hi" }];
  const rest = { state: {}, tools: [], context: [], forwardedProps: {} };
  return { threadId: `t-${runId}`, runId, protocolVersion: "1.0", messages, ...rest, ...more };
}

function chatOf(id) {
  const messages = [{ ...user, parts: [{ type: "text", text: "hi" }] }];
  return { id, messages, trigger: "submit-message" };
}

// The first of each kind loads and prepares what later ones find ready.
await send("/agui", inputOf("warm"));
await send("/api/chat", chatOf("warm-chat"));

await trace("POST /agui", "/agui", inputOf("run"));
await trace("GET /agui/runs/:runId/events", "/agui/runs/run/events");
await trace("POST /api/chat", "/api/chat", chatOf("chat"));
const asked = await trace("approval asked", "/agui", inputOf("ask", { agentId: "payer" }));
const end = JSON.parse(asked.slice(asked.lastIndexOf("data: ") + 6));
const [{ id: interruptId }] = end.outcome.interrupts;
const resume = [{ interruptId, status: "resolved", payload: { approved: true } }];
const answer = inputOf("answer", { agentId: "payer", threadId: "t-ask", resume });
await trace("approval answered", "/agui", answer);

console.log(JSON.stringify(traces));
server.close();
server.closeAllConnections();
await handler.close();
