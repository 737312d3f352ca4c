import { silentLogger } from "@holodeck/agui-core";
import type { AgentFunction, Protocol, RunResult } from "@holodeck/agui-core";
import { fakeClock, runInput, scriptedAgent, settle } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandlerOptions } from "@holodeck/agui";
import { deferred } from "./_helpers.ts";

/** The whole result of a run as one JSON answer. */
function whole(results: RunResult[] = []): Protocol {
  return {
    name: "whole",
    history: "server",
    routes: (host) => [
      {
        method: "POST",
        path: "/:thread/:run",
        async handle(call) {
          const { thread, run } = call.params;
          const active = await host.start(call, {
            input: runInput({ threadId: thread!, runId: run! }),
          });
          const result = await active.collect();
          results.push(result);
          return { status: 200, body: { said: result.messages.length, ms: result.ms } };
        },
      },
    ],
  };
}

function serving(agent: AgentFunction, options: AgentHandlerOptions = {}) {
  const results: RunResult[] = [];
  const handler = createAgentHandler(agent, {
    logger: silentLogger,
    ...options,
    protocols: [whole(results)],
  });
  const ask = (path: string, signal?: AbortSignal): Promise<Response> =>
    handler.fetch(
      new Request(`http://test.local${path}`, { method: "POST", ...(signal && { signal }) }),
    );
  return { handler, ask, results };
}

/** An agent that speaks, waits, and tells why it was stopped. */
function listener(): { agent: AgentFunction; begun: Promise<void>; stopped: Promise<unknown> } {
  const [begun, stopped] = [deferred(), deferred<unknown>()];
  const agent: AgentFunction = async function* (_, { signal }) {
    signal.addEventListener("abort", () => stopped.resolve(signal.reason));
    yield "Half";
    begun.resolve(undefined);
    await stopped.promise;
  };
  return { agent, begun: begun.promise, stopped: stopped.promise };
}

describe("a client that waits for the whole result of a run", () => {
  test("ends the run by leaving", async () => {
    const { agent, begun, stopped } = listener();
    const { ask, handler, results } = serving(agent);
    const leaving = new AbortController();
    const answer = ask("/t/r", leaving.signal);
    await begun;
    leaving.abort();
    expect(await stopped).toMatchObject({ code: "disconnected" });
    await answer;
    expect(results).toMatchObject([{ error: undefined }]);
    expect(await handler.sessions.runs.find("", "r")).toMatchObject({ status: "cancelled" });
    await handler.close();
  });

  test("has left already when it begins", async () => {
    const { agent, stopped } = listener();
    const { ask, handler } = serving(agent);
    await ask("/t/r", AbortSignal.abort());
    expect(await stopped).toMatchObject({ code: "disconnected" });
    await handler.close();
  });

  test("leaves it time to come back, where the host grants it", async () => {
    const clock = fakeClock();
    const { agent, begun, stopped } = listener();
    const { ask, handler } = serving(agent, { clock, onDisconnect: { graceMs: 1_000 } });
    const leaving = new AbortController();
    const answer = ask("/t/r", leaving.signal);
    await begun;
    leaving.abort();
    await clock.advance(900);
    expect(handler.runs.list()).toMatchObject([{ status: "running" }]);
    await clock.advance(1_000);
    expect(await stopped).toMatchObject({ code: "disconnected" });
    await answer;
    await handler.close();
  });

  test("holds the thread against a run that wants it: a client waits", async () => {
    const { agent, begun } = listener();
    const { ask, handler } = serving(agent, { onDisconnect: "continue" });
    const first = ask("/t/r1");
    await begun;
    expect((await ask("/t/r2")).status).toBe(409);
    await handler.runs.stop("r1");
    expect((await first).status).toBe(200);
    await handler.close();
  });

  test("leaves the queue as well", async () => {
    const { agent, begun } = listener();
    const second = scriptedAgent(["second"]);
    const { ask, handler, results } = serving(
      (input, context) => (input.runId === "r1" ? agent : second.run)(input, context),
      { onBusy: "queue" },
    );
    const first = ask("/t/r1");
    await begun;
    const leaving = new AbortController();
    const gone = ask("/t/r2", leaving.signal);
    const stays = ask("/t/r3");
    await settle();
    leaving.abort();
    await settle();
    await handler.runs.stop("r1");
    await Promise.all([first, gone, stays]);
    expect(second.inputs.map(({ runId }) => runId)).toEqual(["r3"]);
    expect(results).toHaveLength(2);
    await handler.close();
  });
});
