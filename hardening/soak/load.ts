// What clients do to a server for hours: every protocol, disconnects, errors, waits for tools, uploads, hostile bodies.
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { mutateBytes, mutateJson } from "../fuzz/mutate.ts";
import type { Random } from "../fuzz/random.ts";

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Leaves after so many bytes of the answer. */
  readonly leaveAfter?: number;
  /** Reads nothing for so many turns of the event loop after each piece. */
  readonly pauseTurns?: number;
  /** Called when the answer begins. */
  readonly onFirst?: () => void;
}

// A client that joined a run that waits leaves at some time, too.
const patienceMs = 3_000;

export interface Client {
  send(path: string, sent?: Sent): Promise<{ status: number; text: string }>;
}

export function createClient(port: number): Client {
  return {
    send(
      path,
      { method = "POST", headers = {}, body, leaveAfter = Infinity, pauseTurns = 0, onFirst } = {},
    ) {
      const json = { "content-type": "application/json", "x-user": "ann" };
      return new Promise((resolve) => {
        // Without an agent each connection ends with its answer.
        const options = { host: "127.0.0.1", port, method, path, agent: false as const };
        const call = request({ ...options, headers: { ...json, ...headers } }, (response) => {
          let text = "";
          let length = 0;
          response.on("data", (piece: Buffer) => {
            if (length === 0) onFirst?.();
            if (text.length < 1e5) text += piece.toString("latin1");
            length += piece.length;
            if (length >= leaveAfter) call.destroy();
            else if (pauseTurns > 0) pauseFor(response, pauseTurns);
          });
          response.on("error", () => undefined);
          response.on("close", () => resolve({ status: response.statusCode ?? 0, text }));
        });
        call.on("error", () => resolve({ status: 0, text: "" }));
        const timer = setTimeout(() => call.destroy(), patienceMs);
        call.on("close", () => clearTimeout(timer));
        call.end(body);
      });
    },
  };
}

function pauseFor(response: IncomingMessage, turns: number): void {
  response.pause();
  const next = (left: number): void => {
    if (left === 0) response.resume();
    else setImmediate(next, left - 1);
  };
  next(turns);
}

const message = (content: string): object => ({ id: "m", role: "user", content });
const run = (random: Random, content: string, more: object = {}): Record<string, unknown> => ({
  threadId: `t-${random.below(60)}`,
  runId: `r-${random.below(1e9)}`,
  protocolVersion: "1.0",
  messages: [message(content)],
  ...more,
});
const uiChat = (random: Random, text: string): object => ({
  id: `c-${random.below(60)}`,
  messages: [{ id: "m", role: "user", parts: [{ type: "text", text }] }],
});
const form = (content: string): Sent => ({
  headers: { "content-type": "multipart/form-data; boundary=x" },
  body:
    '--x\r\ncontent-disposition: form-data; name="message"\r\n\r\nRead\r\n--x\r\n' +
    `content-disposition: form-data; name="files"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\n${content}\r\n--x--\r\n`,
});

type Scenario = (client: Client, random: Random) => Promise<unknown>;
const json = (body: unknown, more: Sent = {}): Sent => ({ body: JSON.stringify(body), ...more });

/** Each of them ends by itself. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  "AG-UI": (client, random) => client.send("/agui", json(run(random, "hello"))),
  "AG-UI over protobuf": (client, random) =>
    client.send(
      "/agui",
      json(run(random, "hello"), {
        headers: { accept: "application/vnd.ag-ui.event+proto" },
      }),
    ),
  CopilotKit: (client, random) =>
    client.send("/agui/agent/default/run", json(run(random, "hello"))),
  "CopilotKit connects": (client, random) =>
    client.send("/agui/agent/default/connect", json({ threadId: `t-${random.below(60)}` })),
  useChat: (client, random) => client.send("/api/chat", json(uiChat(random, "hello"))),
  REST: (client) => client.send("/agent/default/chat", json({ message: "hello" })),
  "REST, streamed": (client) =>
    client.send("/agent/default/chat/stream", json({ message: "hello" })),
  threads: (client) => client.send("/chat", json({ message: "hello", stream: false })),
  "chat completions": (client, random) =>
    client.send(
      "/v1/chat/completions",
      json({ messages: [{ role: "user", content: "hello" }], stream: random.chance(0.5) }),
    ),
  "Responses, one after the other": async (client, random) => {
    const { text } = await client.send("/v1/responses", json({ input: "hello" }));
    const id = /"id":"(resp_\w+)"/.exec(text)?.[1];
    const body = { input: "hello", previous_response_id: id, stream: random.chance(0.5) };
    await client.send("/v1/responses", json(body));
    await client.send(`/v1/responses/${id}?stream=true&starting_after=3`, { method: "GET" });
  },
  "a response in the background": async (client) => {
    const { text } = await client.send("/v1/responses", json({ input: "wait", background: true }));
    const id = /"id":"(resp_\w+)"/.exec(text)?.[1];
    await client.send(`/v1/responses/${id}/cancel`);
  },
  lists: async (client, random) => {
    await client.send("/agui/threads?limit=20", { method: "GET" });
    await client.send(`/agui/threads/t-${random.below(60)}/messages`, { method: "GET" });
  },
  deletes: (client, random) =>
    client.send(`/agui/threads/t-${random.below(60)}`, { method: "DELETE" }),
  "an agent that fails": (client, random) => client.send("/agui", json(run(random, "fail"))),
  "an agent that refuses": (client, random) =>
    client.send("/api/chat", json(uiChat(random, "refuse"))),
  "a client that leaves": (client, random) =>
    client.send("/agui", json(run(random, "wait"), { leaveAfter: 1 + random.below(2_000) })),
  "a client that leaves at once": (client, random) =>
    client.send("/agui", json(run(random, "hello"), { leaveAfter: 1 })),
  "a client that reads slowly": (client, random) =>
    client.send("/agui", json(run(random, "hello"), { pauseTurns: 50 })),
  "an approval": async (client, random) => {
    const body = run(random, "pay");
    const { text } = await client.send("/agui", json(body));
    const interruptId = /"interrupts":\[\{"id":"([^"]+)"/.exec(text)?.[1];
    const resume = [{ interruptId, status: "resolved", payload: { approved: random.chance(0.5) } }];
    await client.send("/agui", json({ ...body, runId: `r-${random.below(1e9)}`, resume }));
  },
  "a client tool that is not answered": (client) =>
    client.send("/chat", json({ message: "pick", tools: [{ name: "pick" }] }, { leaveAfter: 600 })),
  "a run that is joined again": async (client, random) => {
    const body = run(random, "hello");
    await client.send("/agui", json(body, { leaveAfter: 300 }));
    const headers = { "last-event-id": String(random.below(10)) };
    await client.send(`/agui/runs/${String(body.runId)}/events`, { method: "GET", headers });
  },
  "a run that is stopped": async (client, random) => {
    const body = run(random, "wait");
    const stop = `/agui/runs/${String(body.runId)}/stop`;
    await client.send(
      "/agui",
      json(body, { onFirst: () => void client.send(stop, { body: "{}" }) }),
    );
  },
  "a form": (client, random) =>
    client.send("/agent/default/chat", form("text ".repeat(random.below(5_000)))),
  "an upload": (client, random) => client.send("/files", form("x".repeat(random.below(20_000)))),
  "a form that is left": (client, random) =>
    client.send("/agent/default/chat", {
      ...form("x".repeat(200_000)),
      leaveAfter: random.below(2),
    }),
  "a body that is not JSON": (client, random) => {
    const text = JSON.stringify(run(random, "hello"));
    return client.send("/agui", { body: mutateBytes(Buffer.from(text), random) });
  },
  "a hostile body": (client, random) =>
    client.send("/agui", json(mutateJson(run(random, "hello"), random, 0.3))),
  "a deep body": (client) =>
    client.send("/agui", { body: `${"[".repeat(5_000)}${"]".repeat(5_000)}` }),
  "a body of empty objects": (client) =>
    client.send("/agui", { body: `{"state":[${"{},".repeat(300_000)}{}]}` }),
  "a body of another type": (client) =>
    client.send("/api/chat", { headers: { "content-type": "text/plain" }, body: "hello" }),
};
