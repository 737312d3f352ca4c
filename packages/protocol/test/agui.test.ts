import { defaultLimits } from "@holodeck/agui-core";
import type { Call, Encoder, ProtocolHost, RunRequest } from "@holodeck/agui-core";
import { agui, protoMediaType } from "@holodeck/agui-protocol";
import { describe, expect, test } from "vitest";

/** A host that writes down what a protocol asks of it. */
function fakeHost(): {
  host: ProtocolHost;
  started: RunRequest[];
  encoders: [Encoder, unknown][];
  logged: object[];
} {
  const started: RunRequest[] = [];
  const encoders: [Encoder, unknown][] = [];
  const logged: object[] = [];
  const log = (fields: object): void => void logged.push(fields);
  const host: ProtocolHost = Object.assign(Object.create(null), {
    limits: { ...defaultLimits, messages: 2, messageChars: 10 },
    logger: { debug: log, info: log, warn: log, error: log },
    debug: false,
    info: () => ({ service: "test", agents: {} }),
    start: async (_call: Call, run: RunRequest) => {
      started.push(run);
      return {
        stream(encoder: Encoder, from: unknown) {
          encoders.push([encoder, from]);
          return { status: 200 };
        },
      };
    },
  });
  return { host, started, encoders, logged };
}

function call(body: unknown, accept?: string): Call {
  const header = (name: string): string | undefined => (name === "accept" ? accept : undefined);
  return Object.assign(Object.create(null), { body, requestId: "q-1", header });
}

async function post(body: unknown, accept?: string): Promise<ReturnType<typeof fakeHost>> {
  const fake = fakeHost();
  const [route] = agui().routes(fake.host);
  expect(await route?.handle(call(body, accept))).toEqual({ status: 200 });
  return fake;
}

const messages = [{ id: "m", role: "user", content: "hi" }];
const modern = { threadId: "t", runId: "r", protocolVersion: "1.0", messages };

describe("agui", () => {
  test("is served at /agui, with discovery below", async () => {
    const { host } = fakeHost();
    const protocol = agui();
    expect(protocol).toMatchObject({ name: "agui", history: "client" });
    const [run, connect, info, events, stop, ...more] = protocol.routes(host);
    expect(run).toMatchObject({ method: "POST", path: "/agui", body: "json" });
    expect(connect).toMatchObject({ method: "GET", path: "/agui" });
    expect(info).toMatchObject({ method: "GET", path: "/agui/info" });
    expect(events).toMatchObject({ method: "GET", path: "/agui/runs/:runId/events" });
    expect(stop).toMatchObject({ method: "POST", path: "/agui/runs/:runId/stop" });
    expect(more).toEqual([]);
    expect(await info?.handle(call(undefined))).toEqual({
      status: 200,
      body: { service: "test", agents: {} },
    });
  });

  test("is served wherever one wants it", () => {
    const { host } = fakeHost();
    const paths = agui({ path: ["/awp", "/"] })
      .routes(host)
      .map(({ method, path }) => `${method} ${path}`);
    expect(paths).toEqual([
      "POST /awp",
      "GET /awp",
      "GET /awp/info",
      "GET /awp/runs/:runId/events",
      "POST /awp/runs/:runId/stop",
      "POST /",
      "GET /",
      "GET /info",
      "GET /runs/:runId/events",
      "POST /runs/:runId/stop",
    ]);
    expect(() => agui({ path: "agui" })).toThrow('agui({ path: "agui" }) must start with "/".');
    expect(() => agui({ path: [] })).toThrow("needs at least one");
  });

  test("describes for discovery what it can do", () => {
    const { host } = fakeHost();
    const facts = { protocolVersion: "1.1", transports: ["sse", "protobuf"] };
    expect(agui().describe?.(host)).toEqual({
      capabilities: { transport: { streaming: true, httpBinary: true, resumable: true } },
      protocols: { agui: { path: "/agui", ...facts } },
    });
    expect(agui({ path: ["/a", "/b"] }).describe?.(host)).toMatchObject({
      protocols: { agui: { path: ["/a", "/b"], ...facts } },
    });
  });

  test("starts the run that was asked for and streams it from the start", async () => {
    const { started, encoders, logged } = await post({ ...modern, agent_id: "helper" });
    expect(started).toEqual([
      {
        agentId: "helper",
        protocolVersion: "1.0",
        input: { ...modern, tools: [], context: [] },
      },
    ]);
    expect(encoders).toHaveLength(1);
    expect(encoders[0]?.[0].key).toBe("agui-sse-1.0");
    expect(encoders[0]?.[1]).toBe("start");
    expect(logged).toEqual([]);
  });

  const { protocolVersion: _, ...legacy } = modern;
  test.for<[string, unknown, string | undefined, string]>([
    ["SSE", modern, "text/event-stream", "agui-sse-1.0"],
    ["SSE", modern, "*/*", "agui-sse-1.0"],
    ["protobuf", modern, protoMediaType, "agui-proto-1.0"],
    ["older SSE", legacy, undefined, "agui-sse-0"],
    ["older SSE", legacy, protoMediaType, "agui-sse-0"],
  ])("answers in %s", async ([, body, accept, key]) => {
    expect((await post(body, accept)).encoders[0]?.[0].key).toBe(key);
  });

  test.for<[string, unknown, string | undefined, object]>([
    ["a wrong input", { threadId: 5 }, undefined, { code: "invalid-request", status: 400 }],
    ["no input at all", undefined, undefined, { code: "invalid-request", status: 400 }],
    ["an Accept that refuses all", modern, "*/*;q=0", { code: "not-acceptable", status: 406 }],
    [
      "too many messages",
      { messages: [...messages, ...messages, ...messages] },
      undefined,
      { code: "invalid-request", errors: [{ path: "messages" }] },
    ],
    [
      "too long a message",
      { messages: [{ role: "user", content: "x".repeat(11) }] },
      undefined,
      { code: "invalid-request", errors: [{ path: "messages.0.content" }] },
    ],
  ])("refuses %s before a run starts", async ([, body, accept, error]) => {
    const { host, started } = fakeHost();
    const [route] = agui().routes(host);
    await expect(async () => route?.handle(call(body, accept))).rejects.toMatchObject(error);
    expect(started).toEqual([]);
  });

  test("logs once what it ignored", async () => {
    const { logged } = await post({ ...modern, extra: 1, more: 2 });
    expect(logged).toEqual([
      {
        requestId: "q-1",
        warnings: ['"extra" is unknown and was ignored.', '"more" is unknown and was ignored.'],
      },
    ]);
  });
});
