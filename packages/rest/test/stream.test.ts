import { createAgentHandler } from "@holodeck/agui";
import { AgentError, silentLogger } from "@holodeck/agui-core";
import type { AgentFunction, ServerTool } from "@holodeck/agui-core";
import { collect, fakeClock, scriptedAgent, settle } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { rest } from "../src/index.ts";
import { deferred, framesOf, problemOf, serveRest, sessionId, ulidPattern } from "./_kit.ts";
import type { Frame } from "./_kit.ts";

const path = "/agent/helper/chat/stream";
const secret = "postgres://user:password@db";
const kinds = (frames: readonly Frame[]): string[] => frames.map(({ event }) => event);

describe("a stream", () => {
  test("begins with its ids and ends with what it cost", async () => {
    const clock = fakeClock(1_000);
    const agent: AgentFunction = async function* (_, { emit }) {
      yield "Hello ";
      emit.usage({ inputTokens: 3, outputTokens: 4 });
      // The clock is read once in a turn.
      await settle();
      clock.tick(250);
      yield "world";
    };
    const server = await serveRest(agent, { clock });
    const response = await server.post(path, { message: "Hi", session_id: sessionId });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-cache, no-transform");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    const frames = await collect(framesOf(response));
    const message_id = frames[0]?.data["message_id"];
    expect(message_id).toMatch(ulidPattern);
    expect(frames).toEqual([
      { event: "stream_start", data: { session_id: sessionId, message_id } },
      { event: "message_delta", data: { delta: "Hello ", message_id } },
      { event: "message_delta", data: { delta: "world", message_id } },
      {
        event: "stream_end",
        data: {
          message_id,
          tokens_used: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
          execution_time_ms: 250,
        },
      },
    ]);
  });

  test("sends each word when the agent does", async () => {
    const words = ["one", "two", "three"];
    const heard = words.map(() => deferred());
    const agent: AgentFunction = async function* () {
      for (const [index, word] of words.entries()) {
        yield word;
        // It goes on only when the client has this one.
        await heard[index]!.promise;
      }
    };
    const server = await serveRest(agent);
    const frames = framesOf(await server.post(path, { message: "Hi" }));
    expect((await frames.next()).value).toMatchObject({ event: "stream_start" });
    for (const [index, delta] of words.entries()) {
      expect((await frames.next()).value).toMatchObject({
        event: "message_delta",
        data: { delta },
      });
      heard[index]!.resolve();
    }
    expect((await frames.next()).value).toMatchObject({
      event: "stream_end",
      data: { tokens_used: null },
    });
    expect((await frames.next()).done).toBe(true);
  });

  test("shows tools from the call, through its arguments, to how it went", async () => {
    const tools: ServerTool[] = [
      { name: "add", description: "", parameters: {}, invoke: () => 3 },
      {
        name: "fail",
        description: "",
        parameters: {},
        invoke: () => {
          throw new Error(secret);
        },
      },
    ];
    const agent: AgentFunction = async (_, { callTool, emit }) => {
      await callTool("add", { a: 1 });
      await callTool("fail", {}).catch(() => undefined);
      async function* pieces(): AsyncGenerator<string> {
        yield '{"colour":';
        yield '"red"}';
      }
      await emit.toolCall("paint", pieces(), { id: "c-3" });
      return "done";
    };
    const server = await serveRest(agent, { tools });
    const frames = await collect(framesOf(await server.post(path, { message: "Hi" })));
    const [start] = frames;
    const { message_id } = start!.data;
    const id = (index: number): unknown => frames[index]?.data["tool_call_id"];
    const call = (tool_call_id: unknown, name: string): object => ({
      event: "tool_call_start",
      data: { tool_call_id, name, message_id },
    });
    const args = (tool_call_id: unknown, args_delta: string): object => ({
      event: "tool_call_args",
      data: { tool_call_id, args_delta },
    });
    const end = (tool_call_id: unknown, status: string): object => ({
      event: "tool_call_end",
      data: { tool_call_id, status },
    });
    expect(frames).toEqual([
      start,
      call(id(1), "add"),
      args(id(1), '{"a":1}'),
      end(id(1), "success"),
      call(id(4), "fail"),
      args(id(4), "{}"),
      end(id(4), "error"),
      call("c-3", "paint"),
      args("c-3", '{"colour":'),
      args("c-3", '"red"}'),
      { event: "message_delta", data: { delta: "done", message_id } },
      // Nobody here has a result for it: it ends with the stream.
      end("c-3", "success"),
      { event: "stream_end", data: expect.any(Object) },
    ]);
    expect(JSON.stringify(frames)).not.toContain(secret);
  });

  test("ends with an error, masked, when the agent fails in the middle", async () => {
    const server = await serveRest(scriptedAgent(["Hello", { throw: new Error(secret) }]));
    const init = { headers: { "x-request-id": "q-1" } };
    const response = await server.post(`${path}?secret=1`, { message: "Hi" }, init);
    const frames = await collect(framesOf(response));
    expect(kinds(frames)).toEqual(["stream_start", "message_delta", "error"]);
    expect(frames.at(-1)?.data).toEqual({
      type: "https://holodeck.dev/errors/agent-error",
      title: "Agent Error",
      status: 500,
      detail: "The agent failed.",
      message: "The agent failed.",
      instance: path,
      code: "agent-error",
      requestId: "q-1",
    });
  });

  test("passes on an agent's message about its failure", async () => {
    const error = new AgentError("acme/no-funds", "The account is empty.", { status: 402 });
    const server = await serveRest(
      scriptedAgent([
        (_, { emit }) => void emit.toolCall("pay", {}, { id: "c" }),
        { throw: error },
      ]),
    );
    const frames = await collect(framesOf(await server.post(path, { message: "Hi" })));
    expect(frames.slice(-2)).toMatchObject([
      { event: "tool_call_end", data: { tool_call_id: "c", status: "error" } },
      {
        event: "error",
        data: {
          type: "https://holodeck.dev/errors/acme/no-funds",
          detail: "The account is empty.",
        },
      },
    ]);
  });

  test("refuses before it begins", async () => {
    const server = await serveRest(async () => "ok");
    const response = await server.post(path, { message: " " });
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ detail: "message cannot be blank" });
  });

  test("ends in good order when its run is stopped", async () => {
    const begun = deferred();
    const agent = scriptedAgent(["Hello", () => begun.resolve(), { hang: true }]);
    const server = await serveRest(agent);
    const frames = collect(framesOf(await server.post(path, { message: "Hi" })));
    await begun.promise;
    await server.handler.runs.stop(server.handler.runs.list()[0]!.runId);
    expect(kinds(await frames)).toEqual(["stream_start", "message_delta", "stream_end"]);
  });

  test("aborts its agent when the client leaves in the middle", async () => {
    const reason = deferred<unknown>();
    const agent: AgentFunction = async function* (_, { signal }) {
      signal.addEventListener("abort", () => reason.resolve(signal.reason));
      yield "Hello";
      await new Promise(() => undefined);
    };
    const server = await serveRest(agent);
    const leaving = new AbortController();
    const response = await server.post(path, { message: "Hi" }, { signal: leaving.signal });
    const frames = framesOf(response);
    await frames.next();
    await frames.next();
    leaving.abort();
    await expect(frames.next()).rejects.toThrow();
    expect(await reason.promise).toMatchObject({ code: "disconnected" });
  });

  test("is kept alive by a comment after 8 idle seconds", async () => {
    const clock = fakeClock();
    const handler = createAgentHandler(scriptedAgent(["Hello", { hang: true }]), {
      protocols: [rest()],
      clock,
      logger: silentLogger,
    });
    const request = new Request("http://test.local/agent/default/chat/stream", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ message: "Hi" }),
    });
    const { body } = await handler.fetch(request);
    let text = "";
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    const reading = (async () => {
      for (let step = await reader.read(); !step.done; step = await reader.read()) {
        text += step.value;
      }
    })();
    await settle();
    expect(text).not.toContain(": keepalive");
    await clock.advance(7_000);
    expect(text).not.toContain(": keepalive");
    await clock.advance(2_000);
    expect(text).toMatch(/\n\n: keepalive\n\n$/);
    await reader.cancel();
    await reading;
    const closed = handler.close({ timeoutMs: 0 });
    await clock.advance(10);
    await closed;
  });
});
