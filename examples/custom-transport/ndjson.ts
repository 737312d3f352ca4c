import { AgentError } from "@holodeck/agui-core";
import type { Encoder, LogEntry, Protocol } from "@holodeck/agui-core";
import { decodeRunInput } from "@holodeck/agui-protocol";

export interface NdjsonOptions {
  /** By default "/ndjson". */
  path?: string;
}

/**
 * AG-UI as lines of JSON. `POST {path}` runs the agent; `GET {path}/:runId?offset=n` goes on after the
 * n-th event; `DELETE {path}/:runId` stops the run.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, { protocols: [ndjson()] });
 * ```
 */
export function ndjson(options: NdjsonOptions = {}): Protocol {
  const { path = "/ndjson" } = options;
  return {
    name: "ndjson",
    history: "client",
    describe: () => ({ ndjson: { path } }),
    routes: (host) => [
      {
        method: "POST",
        path,
        body: "json",
        async handle(call) {
          const { warnings: _, ...request } = await decodeRunInput(call.body, host.limits);
          const run = await host.start(call, request);
          // A disconnected client needs the run's id to resume; the server may have generated it.
          return run.stream(lines, "start", { "x-run-id": run.record.runId });
        },
      },
      {
        method: "GET",
        path: `${path}/:runId`,
        async handle(call) {
          const runId = call.params["runId"] ?? "";
          const run = await host.attach(call, { runId });
          if (!run) throw unknownRun(runId);
          return run.stream(lines, readOffset(call.query.get("offset")), { "x-run-id": runId });
        },
      },
      {
        method: "DELETE",
        path: `${path}/:runId`,
        async handle(call) {
          const runId = call.params["runId"] ?? "";
          const isStopped = await host.send(call, { runId }, { type: "stop" });
          if (!isStopped) throw unknownRun(runId);
          return { status: 204 };
        },
      },
    ],
  };
}

const lines: Encoder = {
  contentType: "application/x-ndjson",
  headers: { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" },
  // One line per event and no memory of the others: so the stream may start after any of them.
  key: "ndjson",
  encode: ({ to, event }: LogEntry) => `${JSON.stringify({ offset: to, event })}\n`,
  // Readers of NDJSON skip empty lines.
  keepAlive: () => "\n",
};

function readOffset(text: string | null): number {
  const offset = Number(text ?? 0);
  if (Number.isSafeInteger(offset) && offset >= 0) return offset;
  throw new AgentError("invalid-request", `offset must be a whole number, not "${text}".`);
}

function unknownRun(runId: string): AgentError {
  return new AgentError("run-not-found", `There is no run "${runId}".`);
}
