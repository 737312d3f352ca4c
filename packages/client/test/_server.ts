import { serve } from "@holodeck/agui-node";
import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandlerOptions, AgentLike, RunAgentInput } from "@holodeck/agui";
import { expect } from "vitest";
import { cuttingProxy } from "./_cutting-proxy.ts";
import type { CuttingProxy } from "./_cutting-proxy.ts";

const closers: (() => unknown)[] = [];

/** Ends what a test has started. For `afterEach`. */
export async function endAll(): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close();
}

/** Runs a function after the test. */
function afterwards(close: () => unknown): void {
  closers.push(close);
}

/** Characters of one to four bytes: a cut inside one must not show. */
export const answer: readonly string[] = Array.from(
  { length: 300 },
  (_, index) => `w${index} é 漢 🚀 `,
);

/** An agent that answers in pieces, one a turn of the event loop, and keeps the ids of its runs. */
function createTalker(runs: string[], text: readonly string[] = answer): AgentLike {
  return async function* ({ runId }: RunAgentInput) {
    runs.push(runId);
    for (const piece of text) {
      await new Promise((resolve) => setImmediate(resolve));
      yield piece;
    }
  };
}

export interface Served {
  readonly url: string;
  readonly runs: string[];
  /** A proxy before the server that cuts after these bytes, one connection after the other, and then no more. */
  cutting(...limits: number[]): Promise<CuttingProxy>;
}

/** A server whose runs wait for clients that come back. */
export async function start(agent?: AgentLike, options: AgentHandlerOptions = {}): Promise<Served> {
  const runs: string[] = [];
  const handler = createAgentHandler(agent ?? createTalker(runs), {
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    onDisconnect: { graceMs: 30_000 },
    ...options,
  });
  const serving = await serve(handler, { port: 0, host: "127.0.0.1" });
  afterwards(() => serving.close());
  const url = `http://127.0.0.1:${serving.port}`;
  return {
    url,
    runs,
    async cutting(...limits) {
      const left = [...limits];
      const proxy = await cuttingProxy(url, () => left.shift());
      afterwards(() => proxy.close());
      return proxy;
    },
  };
}

/** Fails the test when a promise is rejected and none handles it. */
export function watchRejections(): void {
  const seen: unknown[] = [];
  const note = (reason: unknown): void => void seen.push(reason);
  process.on("unhandledRejection", note);
  afterwards(async () => {
    // They are reported after the turn in which they happen.
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", note);
    expect(seen).toEqual([]);
  });
}
