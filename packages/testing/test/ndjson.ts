import type { Encoder, Protocol, RunAgentInput } from "@holodeck/agui-core";
import type { ProtocolFrame } from "../src/vitest/index.ts";

/** A stranger's protocol: one JSON object a line, with resume and stop. */
export function ndjson(encoder: () => Encoder = ndjsonEncoder): Protocol {
  return {
    name: "ndjson",
    history: "client",
    routes: (host) => [
      {
        method: "POST",
        path: "/ndjson",
        body: "json",
        handle: async (call) => {
          const input = call.body as RunAgentInput;
          return (await host.start(call, { input, protocolVersion: "1.0" })).stream(
            encoder(),
            "start",
          );
        },
      },
      {
        method: "GET",
        path: "/ndjson/:runId",
        handle: async (call) => {
          const run = await host.attach(call, { runId: call.params.runId! });
          const offset = Number(call.query.get("offset") ?? 0);
          return run?.stream(encoder(), offset) ?? { status: 204 };
        },
      },
      {
        method: "POST",
        path: "/ndjson/:runId/stop",
        handle: async (call) => {
          const isSent = await host.send(call, { runId: call.params.runId! }, { type: "stop" });
          return { status: isSent ? 202 : 404 };
        },
      },
    ],
  };
}

export function ndjsonEncoder(): Encoder {
  return {
    contentType: "application/x-ndjson",
    key: "ndjson",
    encode: ({ to, event }) => `${JSON.stringify({ offset: to, ...event })}\n`,
    keepAlive: () => "\n",
  };
}

export async function* readLines(response: Response): AsyncGenerator<ProtocolFrame> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body!) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      if (line === "") continue;
      const { offset, ...data } = JSON.parse(line) as { offset: number; type: string };
      yield { offset, data, ends: data.type === "RUN_FINISHED" || data.type === "RUN_ERROR" };
    }
  }
}

export function post(path: string, body?: unknown): Request {
  return new Request(`http://localhost${path}`, {
    method: "POST",
    ...(body === undefined
      ? {}
      : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
}
