import { HttpAgent } from "@ag-ui/client";
import { DefaultChatTransport } from "ai-6";
import type { UIMessage, UIMessageChunk } from "ai-6";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { ask, assertFinished, post, readSse, textOf, toInput } from "./check.ts";
import type { Check, Target } from "./check.ts";
import { openGate } from "./gated.ts";

const proto = "application/vnd.ag-ui.event+proto";

/** AG-UI's own client, with a message to send. */
function createClient(target: Target, content: string, accept?: string): HttpAgent {
  const client = new HttpAgent({
    url: `${target.url}/agui`,
    threadId: randomUUID(),
    fetch: (url, init) => {
      const headers = new Headers(init?.headers);
      if (accept) headers.set("accept", accept);
      return target.fetch(url, { ...init, headers });
    },
  });
  client.addMessage({ id: randomUUID(), role: "user", content });
  return client;
}

function chunksOf(target: Target, text: string, id = randomUUID()): Promise<ReadableStream> {
  const transport = new DefaultChatTransport<UIMessage>({
    api: `${target.url}/chat`,
    fetch: target.fetch,
  });
  const messages: UIMessage[] = [
    { id: randomUUID(), role: "user", parts: [{ type: "text", text }] },
  ];
  return transport.sendMessages({
    chatId: id,
    messages,
    trigger: "submit-message",
    messageId: undefined,
    abortSignal: undefined,
  });
}

async function collect(stream: ReadableStream): Promise<UIMessageChunk[]> {
  const chunks: UIMessageChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk as UIMessageChunk);
  return chunks;
}

function textIn(chunks: readonly UIMessageChunk[]): string {
  return chunks.map((chunk) => (chunk.type === "text-delta" ? chunk.delta : "")).join("");
}

/** Each kind of client, once. */
export const clientChecks: readonly Check[] = [
  {
    name: "health",
    shows: "`GET /health`, `/ready`",
    async run({ url, fetch }) {
      for (const path of ["/health", "/ready"]) {
        const response = await fetch(`${url}${path}`);
        assert.equal(response.status, 200, await response.text());
      }
    },
  },
  {
    name: "discovery",
    shows: "`GET /agui/info`, `/openapi.json`",
    async run({ url, fetch }) {
      const info = (await (await fetch(`${url}/agui/info`)).json()) as { agents: unknown };
      assert.ok(info.agents);
      const document = (await (await fetch(`${url}/openapi.json`)).json()) as { openapi: string };
      assert.equal(document.openapi, "3.1.0");
    },
  },
  {
    name: "sse",
    shows: "`HttpAgent` over SSE",
    async run(target) {
      const client = createClient(target, "say one two three");
      await client.runAgent();
      assert.equal(client.messages.at(-1)?.content, "one two three ");
    },
  },
  {
    name: "protobuf",
    shows: "`HttpAgent` over protobuf",
    async run(target) {
      const client = createClient(target, "say one two three", proto);
      await client.runAgent();
      assert.equal(client.messages.at(-1)?.content, "one two three ");
    },
  },
  {
    name: "state and tools",
    shows: "state deltas, tool calls and results",
    async run(target) {
      const counting = createClient(target, "state");
      await counting.runAgent();
      assert.deepEqual(counting.state, { count: 7 });
      const calling = createClient(target, "tool Bern");
      await calling.runAgent();
      const roles = calling.messages.map(({ role }) => role);
      assert.ok(roles.includes("tool"), roles.join(", "));
    },
  },
  {
    name: "useChat",
    shows: "`DefaultChatTransport` of the AI SDK",
    async run(target) {
      assert.equal(textIn(await collect(await chunksOf(target, "say one two"))), "one two ");
    },
  },
  {
    name: "useChat resumes",
    shows: "`reconnectToStream` while a run goes on",
    async run(target) {
      const id = randomUUID();
      const first = (await chunksOf(target, `gate ${id} 2`, id)).getReader();
      await first.read();
      const { url, fetch } = target;
      const transport = new DefaultChatTransport<UIMessage>({ api: `${url}/chat`, fetch });
      const again = await transport.reconnectToStream({ chatId: id });
      assert.ok(again, "there was nothing to resume");
      for (const step of [0, 1]) await openGate(target, `${id}/${step}`);
      assert.match(textIn(await collect(again)), /1 $/);
      for (let step = await first.read(); !step.done; step = await first.read());
    },
  },
  {
    name: "rest",
    shows: "REST: JSON and its stream",
    async run(target) {
      assert.equal(await ask(target, "say one two"), "one two ");
      const response = await post(target, "/agent/default/chat/stream", { message: "say one" });
      const text = await response.text();
      assert.match(text, /event: message_delta\ndata: .*one/);
      assert.match(text, /event: stream_end/);
    },
  },
  {
    name: "threads",
    shows: "threads: create, continue, read, delete",
    async run(target) {
      const { url, fetch } = target;
      const begun = await post(target, "/chat", { message: "say one", stream: false });
      const { thread_id } = (await begun.json()) as { thread_id: string };
      const more = await post(target, "/chat", { message: "and", thread_id, stream: false });
      assert.match(((await more.json()) as { content: string }).content, /3 messages/);
      const read = await fetch(`${url}/threads/${thread_id}`);
      assert.equal(((await read.json()) as { message_count: number }).message_count, 4);
      assert.equal((await fetch(`${url}/threads/${thread_id}`, { method: "DELETE" })).status, 204);
      assert.equal((await fetch(`${url}/threads/${thread_id}`)).status, 404);
    },
  },
  {
    name: "client tool",
    shows: "a tool of the client, answered by another request while the run waits",
    async run(target) {
      const tools = [
        { name: "locate", description: "Where it is", parameters: { type: "object" } },
      ];
      const response = await post(target, "/chat", { message: "ask", tools });
      assert.equal(response.status, 200);
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      let isAnswered = false;
      for (let step = await reader.read(); !step.done; step = await reader.read()) {
        text += step.value;
        const execution_id = /"execution_id":"([^"]+)"/.exec(text)?.[1];
        if (isAnswered || !execution_id) continue;
        isAnswered = true;
        const result = { result: "Bern", execution_id, execution_time_ms: 1 };
        const given = await post(target, "/tool_result", result);
        assert.ok(given.ok, await given.text());
      }
      assert.match(text, /Bern/);
      assert.match(text, /message_complete/);
    },
  },
  {
    name: "uploads",
    shows: "a form with files",
    async run({ url, fetch }) {
      const form = new FormData();
      form.append("message", "files");
      form.append("files", new Blob(["x".repeat(300_000)], { type: "text/plain" }), "a.txt");
      form.append("files", new Blob(["# b"], { type: "text/markdown" }), "b.md");
      const response = await fetch(`${url}/agent/default/chat`, { method: "POST", body: form });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      assert.equal((JSON.parse(text) as { content: string }).content, "a.txt:300000 b.md:3");
    },
  },
  {
    name: "large body",
    shows: "a megabyte of history in a request",
    async run(target) {
      const input = toInput("hello");
      const before = Array.from({ length: 100 }, (_, at) => ({
        id: `m${at}`,
        role: "user",
        content: "y".repeat(10_000),
      }));
      input.messages = [...before, ...(input.messages as object[])];
      const events = await readSse(await post(target, "/agui", input)).readToEnd();
      assertFinished(events);
      assert.match(textOf(events), /101 messages/);
    },
  },
  {
    name: "refusals",
    shows: "400, 404 and 415 as problems",
    async run(target) {
      const { url, fetch } = target;
      const wrong = await post(target, "/agui", { threadId: 7, messages: "none" });
      assert.equal(wrong.status, 400);
      assert.match(wrong.headers.get("content-type") ?? "", /^application\/problem\+json/);
      const problem = (await wrong.json()) as { detail: string };
      assert.match(problem.detail, /threadId|messages/);
      const lost = await fetch(`${url}/agui/runs/unknown/events`);
      assert.equal(lost.status, 404, await lost.text());
      const plain = await fetch(`${url}/agui`, { method: "POST", body: "hello" });
      assert.equal(plain.status, 415, await plain.text());
    },
  },
  {
    name: "failing agent",
    shows: "an agent that throws ends as RUN_ERROR",
    async run(target) {
      const events = await readSse(await post(target, "/agui", toInput("fail"))).readToEnd();
      assert.equal(events.at(-1)?.event.type, "RUN_ERROR");
    },
  },
];
