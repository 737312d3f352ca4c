// What a good engineer writes by hand: `node:http`, `JSON.stringify`, a write per event. The measure of all.
import { createServer } from "node:http";
import { listen, words } from "./_work.mjs";

export async function start() {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => void answer(JSON.parse(body), response));
  });
  return listen(server);
}

async function answer({ threadId, runId }, response) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const send = (event) => response.write(`data: ${JSON.stringify(event)}\n\n`);
  const messageId = `${runId}-1`;
  send({ type: "RUN_STARTED", threadId, runId });
  send({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
  for await (const delta of words()) send({ type: "TEXT_MESSAGE_CONTENT", messageId, delta });
  send({ type: "TEXT_MESSAGE_END", messageId });
  send({ type: "RUN_FINISHED", threadId, runId });
  response.end();
}
