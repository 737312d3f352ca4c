// What a good engineer writes by hand: `node:http`, `JSON.stringify`, a write per event. The measure of all.
import { createServer } from "node:http";
import { changedKey, firstState, listen, readBody, toolEvents, words, work } from "./_work.mjs";

/** Events of finished runs, for the resume scenario: what a hand-written replay would read. */
const logs = new Map();

export async function start() {
  return listen(createServer((request, response) => void answer(request, response)));
}

async function answer(request, response) {
  if (request.method === "GET") return replay(request, response);
  const { threadId, runId } = await readBody(request);
  if (request.url === "/json") return answerJson(response);
  const log = work.isKept ? [] : undefined;
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const send = (event) => {
    log?.push(event);
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  };
  send({ type: "RUN_STARTED", threadId, runId });
  if (work.kind === "tools") for await (const event of toolEvents(runId)) send(event);
  else if (work.kind === "state") await sendState(send);
  else await sendText(runId, send);
  send({ type: "RUN_FINISHED", threadId, runId });
  response.end();
  if (log) logs.set(runId, log);
}

async function sendText(runId, send) {
  const messageId = `${runId}-1`;
  send({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
  for await (const delta of words()) send({ type: "TEXT_MESSAGE_CONTENT", messageId, delta });
  send({ type: "TEXT_MESSAGE_END", messageId });
}

// By hand one knows what changed and writes the patch oneself. Each step comes after a promise, as
// it does from an agent that waits for something.
async function sendState(send) {
  const state = firstState();
  send({ type: "STATE_SNAPSHOT", snapshot: state });
  for (let step = 0; step < work.deltas; step++) {
    await Promise.resolve();
    const key = changedKey(step);
    state[key] = step;
    send({ type: "STATE_DELTA", delta: [{ op: "replace", path: `/${key}`, value: step }] });
  }
}

function replay(request, response) {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  const log = logs.get(pathname.split("/").at(-2)) ?? [];
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for (let at = Number(searchParams.get("offset")); at < log.length; at++) {
    response.write(`id: ${at + 1}\ndata: ${JSON.stringify(log[at])}\n\n`);
  }
  response.end();
}

async function answerJson(response) {
  let content = "";
  for await (const text of words()) content += text;
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ message_id: "m1", content, session_id: "s1", tool_calls: [] }));
}
