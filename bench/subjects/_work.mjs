// What every subject's agent does, so that only the serving differs. Copied beside the peers as well:
// it may import Node only.

/** The work as set by the bench: what is sent, how often, how long, how far apart. */
export const work = {
  kind: "text",
  deltas: 200,
  size: 20,
  everyMs: 0,
  ...JSON.parse(process.env.BENCH_WORK ?? "{}"),
};

// What an agent waits for must be reachable: from a timer, a socket. An unreferenced promise would be
// collected with the run that waits for it, and an open stream would look as if it held nothing.
const waiting = [];
const filling = "x".repeat(work.size);
// Reading the clock and finding the stamp again cost more than a delta: one in ten carries one.
const stampEvery = 10;

/** The text of one delta: filling, or now and then the moment it was made. */
function delta(index) {
  if (work.everyMs === 0 || index % stampEvery !== 0) return filling;
  return `@${process.hrtime.bigint()}@`.padEnd(work.size, "x");
}

/** An agent that speaks as fast as it is asked, or once per interval; an idle one speaks once and waits. */
export async function* words() {
  for (let index = 0; index < work.deltas; index++) {
    if (work.everyMs > 0) await pause(work.everyMs);
    yield delta(index);
  }
  if (work.kind === "idle") await new Promise((resolve) => waiting.push(resolve));
}

/** A run of tool calls: start, five pieces of arguments, end and result, eight events each. */
export async function* toolEvents(runId) {
  for (let call = 0; call < work.deltas / 8; call++) {
    const toolCallId = `${runId}-c${call}`;
    yield { type: "TOOL_CALL_START", toolCallId, toolCallName: "get_weather" };
    for (const piece of [
      '{"city":"Berlin"',
      ',"days":3',
      ',"units":"metric"',
      ',"lang":"de"',
      "}",
    ]) {
      yield { type: "TOOL_CALL_ARGS", toolCallId, delta: piece };
    }
    yield { type: "TOOL_CALL_END", toolCallId };
    yield {
      type: "TOOL_CALL_RESULT",
      messageId: `${toolCallId}-r`,
      toolCallId,
      content: '{"celsius":[21,19,24],"rain":[0,0.4,0]}',
    };
  }
}

/** A state of a hundred keys, of which one changes at a time. */
export function firstState() {
  return Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [
      `key${index}`,
      index % 4 === 0 ? { title: `item ${index}`, tags: ["a", "b"], done: false } : index,
    ]),
  );
}

/** The key that changes in a step: one that holds a number. */
export function changedKey(step) {
  return `key${((step * 4) % 100) + 1}`;
}

/** The whole run as AG-UI events, for servers that are given events. */
export async function* runEvents({ threadId, runId }) {
  yield { type: "RUN_STARTED", threadId, runId };
  if (work.kind === "tools") yield* toolEvents(runId);
  else {
    const messageId = `${runId}-1`;
    yield { type: "TEXT_MESSAGE_START", messageId, role: "assistant" };
    for await (const text of words()) {
      yield { type: "TEXT_MESSAGE_CONTENT", messageId, delta: text };
    }
    yield { type: "TEXT_MESSAGE_END", messageId };
  }
  yield { type: "RUN_FINISHED", threadId, runId };
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Listens on a free port of the loopback. */
export async function listen(server) {
  server.keepAliveTimeout = 60_000;
  await new Promise((resolve) =>
    server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, resolve),
  );
  return server.address().port;
}

/** The JSON body of a Node request. */
export function readBody(request) {
  return new Promise((resolve, reject) => {
    let text = "";
    request.on("data", (chunk) => (text += chunk));
    request.on("end", () => resolve(JSON.parse(text)));
    request.on("error", reject);
  });
}
