import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type WireEvent = { type: string; [field: string]: unknown };

/** One planted fault: what it changes in a server that does everything right. */
export interface Fault {
  /** Changes the events of a run. */
  events?: (events: WireEvent[], run: RunRequest) => WireEvent[];
  /** Writes a frame. */
  frame?: (event: WireEvent) => string;
  /** Changes the bytes of a whole answer, which then leaves in one piece. */
  bytes?: (text: string, run: RunRequest) => string | Buffer;
  /** How long the agent takes before anything is sent. */
  waitMs?: number;
  contentType?: (run: RunRequest) => string;
  /** Answers a request that is wrong; undefined leaves it to the server. */
  refuse?: (kind: Refusal) => { status: number; body: string } | undefined;
  /** Answers a run by hand. True: nothing more to do. */
  answer?: (run: RunRequest, response: ServerResponse) => boolean;
  /** Called when a client left before the end. */
  left?: (server: Server) => void;
}

type Refusal = "json" | "input" | "type" | "size" | "method" | "missing" | "snake" | "fail";

interface RunRequest {
  /** Counts the runs of this server from 1. */
  readonly index: number;
  readonly prompt: string;
  readonly isOld: boolean;
  readonly version: unknown;
  readonly accept: string;
  readonly threadId: string;
  readonly runId: string;
}

const maxBytes = 1024 * 1024;

/** A server of AG-UI by hand, right in everything but the fault. */
export async function startServer(
  fault: Fault = {},
): Promise<{ url: string; close(): Promise<void> }> {
  let runs = 0;
  const server = createServer((request, response) => {
    void serve(request, response);
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await read(request);
    const refuse = (kind: Refusal, status: number): void => {
      const own = fault.refuse?.(kind);
      response.writeHead(own?.status ?? status, { "content-type": "application/json" });
      response.end(own?.body ?? JSON.stringify({ error: `Refused: ${kind}.` }));
    };
    if (request.method === "OPTIONS") return void response.writeHead(204).end();
    if (request.method !== "POST") return refuse("method", 405);
    if (request.headers["content-type"] !== "application/json") return refuse("type", 415);
    if (body === undefined) return refuse("size", 413);
    const input = parse(body);
    if (input === undefined) return refuse("json", 400);
    if (Object.keys(input).length === 0) return refuse("missing", 422);
    if ("thread_id" in input) return refuse("snake", 422);
    if (typeof input.threadId !== "string" || !Array.isArray(input.messages)) {
      return refuse("input", 422);
    }
    const run: RunRequest = {
      index: (runs += 1),
      prompt: input.messages.at(-1).content,
      isOld: input.protocolVersion === undefined,
      version: input.protocolVersion,
      accept: request.headers.accept ?? "",
      threadId: input.threadId,
      runId: input.runId,
    };
    if (run.prompt === "fail early") return refuse("fail", 500);
    response.on("close", () => {
      if (!response.writableFinished) fault.left?.(server);
    });
    if (fault.answer?.(run, response)) return;
    await new Promise((resolve) => setTimeout(resolve, fault.waitMs ?? 0));
    const events = fault.events?.(script(run), run) ?? script(run);
    const frames = events.map(fault.frame ?? toFrame);
    response.writeHead(200, { "content-type": fault.contentType?.(run) ?? "text/event-stream" });
    if (fault.bytes) return void response.end(fault.bytes(frames.join(""), run));
    // In pieces, so that a client can leave in the middle.
    for (const frame of frames) {
      response.write(frame);
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export function toFrame(event: WireEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

/** A run in which everything happens once. */
function script({ index, prompt, threadId, runId }: RunRequest): WireEvent[] {
  const id = (name: string): string => `${name}-${index}`;
  const start = { type: "RUN_STARTED", threadId, runId, protocolVersion: "1.1" };
  if (prompt === "fail") return [start, { type: "RUN_ERROR", message: "The agent failed." }];
  const call = { toolCallId: id("call") };
  const text = { messageId: id("text") };
  const thought = { messageId: id("thought") };
  const activity = { messageId: id("activity"), activityType: "search" };
  return [
    start,
    { type: "STEP_STARTED", stepName: "think" },
    { type: "REASONING_START", messageId: id("span") },
    { type: "REASONING_MESSAGE_START", ...thought, role: "reasoning" },
    { type: "REASONING_MESSAGE_CONTENT", ...thought, delta: "Let me see." },
    { type: "REASONING_MESSAGE_END", ...thought },
    {
      type: "REASONING_ENCRYPTED_VALUE",
      subtype: "message",
      entityId: thought.messageId,
      encryptedValue: "eA==",
      encryptedValueType: "model.signature",
    },
    { type: "REASONING_END", messageId: id("span") },
    { type: "STEP_FINISHED", stepName: "think" },
    { type: "STATE_SNAPSHOT", snapshot: { count: 1 } },
    { type: "STATE_DELTA", delta: [{ op: "replace", path: "/count", value: 2 }] },
    { type: "ACTIVITY_SNAPSHOT", ...activity, content: { hits: [] } },
    { type: "ACTIVITY_DELTA", ...activity, patch: [{ op: "add", path: "/hits/-", value: "one" }] },
    { type: "TOOL_CALL_START", ...call, toolCallName: "weather" },
    { type: "TOOL_CALL_ARGS", ...call, delta: '{"city":' },
    { type: "TOOL_CALL_ARGS", ...call, delta: '"Köln"}' },
    { type: "TOOL_CALL_END", ...call },
    { type: "TOOL_CALL_RESULT", ...call, messageId: id("result"), content: '{"sky":"clear"}' },
    { type: "SUBAGENT_STARTED", subagentRunId: id("sub"), name: "writer" },
    { type: "TEXT_MESSAGE_START", ...text, role: "assistant", subagentRunId: id("sub") },
    { type: "TEXT_MESSAGE_CONTENT", ...text, delta: "Clear sky " },
    { type: "TEXT_MESSAGE_CONTENT", ...text, delta: "over Köln 🙂" },
    { type: "TEXT_MESSAGE_END", ...text },
    { type: "SUBAGENT_FINISHED", subagentRunId: id("sub") },
    { type: "TEXT_MESSAGE_CHUNK", messageId: id("chunk"), delta: "And " },
    { type: "TEXT_MESSAGE_CHUNK", delta: "more." },
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [{ id: id("text"), role: "assistant", content: "Clear sky over Köln 🙂" }],
      timestamp: Date.now(),
    },
    { type: "RUN_FINISHED", threadId, runId },
  ];
}

function parse(body: string): any {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

// The whole of it, so that the refusal of a large one is read; undefined past the limit.
async function read(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  return bytes > maxBytes ? undefined : Buffer.concat(chunks).toString("utf8");
}
