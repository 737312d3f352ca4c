import { AsyncLocalStorage } from "node:async_hooks";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type * as agui from "../src/index.ts";
import { loadOnTheEdge } from "./_edge.ts";
import { eventsOf, memoryLogger, parseSse, post, typesOf, userMessage } from "./_helpers.ts";

/** A request of a host whose timers belong to requests: they fire until it ends, and not after that. */
class HostRequest {
  readonly timers = new Set<NodeJS.Timeout>();
  readonly waiting: Promise<unknown>[] = [];
  isOver = false;

  waitUntil(work: Promise<unknown>): void {
    this.waiting.push(work);
  }

  /** Ends it, as a host does that has sent the answer, or waited for too long. */
  end(): void {
    this.isOver = true;
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
  }
}

const current = new AsyncLocalStorage<HostRequest>();

function setOwnTimeout(task: () => void, ms: number): unknown {
  const request = current.getStore();
  if (!request) throw new Error("A timer was set outside of a request.");
  if (request.isOver) return 0;
  const timer = setTimeout(() => {
    request.timers.delete(timer);
    task();
  }, ms);
  request.timers.add(timer);
  return timer;
}

describe("where timers belong to requests", () => {
  let library: typeof agui;
  let late = 0;
  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => void setOwnTimeout(resolve, ms));
  // As the library would make it, with a date that a test can set.
  const clock = {
    now: () => performance.now() + late,
    date: () => Date.now() + late,
    setTimeout: setOwnTimeout,
    clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout),
  };

  beforeAll(async () => {
    const missing = { MessageChannel: undefined, MessagePort: undefined };
    const navigator = { userAgent: "Cloudflare-Workers" };
    const loaded = await loadOnTheEdge({ ...missing, navigator, setTimeout: setOwnTimeout });
    ({ library } = loaded);
    expect(loaded.look("typeof MessageChannel")).toBe("undefined");
  });

  beforeEach(() => {
    late = 0;
  });

  type Fetch = (request: Request, ...platform: unknown[]) => Promise<Response>;

  /** Sends a request in its own context; the host ends it when its answer is read and nothing is waited for. */
  function send(fetch: Fetch, request: Request): { host: HostRequest; answer: Promise<Response> } {
    const host = new HostRequest();
    const answer = current.run(host, () => fetch(request, {}, host));
    return { host, answer };
  }

  async function read(fetch: Fetch, request: Request): Promise<ReturnType<typeof parseSse>> {
    const { host, answer } = send(fetch, request);
    const events = await eventsOf(await answer);
    await Promise.all(host.waiting);
    host.end();
    return events;
  }

  async function* paced(): AsyncGenerator<string> {
    for (let at = 0; at < 10; at++) {
      yield `${at}`;
      await sleep(5);
    }
  }

  const create = (
    agent: Parameters<typeof agui.createAgentHandler>[0],
    options: agui.AgentHandlerOptions = {},
  ): agui.AgentHandler =>
    library.createAgentHandler(agent, { clock, logger: memoryLogger(), ...options });

  test("a run goes on when the request before it has ended", async () => {
    const { fetch } = create(paced);
    for (let round = 0; round < 3; round++) {
      const events = await read(fetch, post({ messages: [] }));
      expect(typesOf(events).at(-1)).toBe("RUN_FINISHED");
    }
  });

  test("a request that is ended at once does not hold up the others", async () => {
    const { fetch } = create(paced);
    const { host, answer } = send(fetch, post({ messages: [] }));
    await answer;
    const second = read(fetch, post({ messages: [] }));
    host.end();
    expect(typesOf(await second).at(-1)).toBe("RUN_FINISHED");
  });

  test("requests that arrive while the first one starts the handler do not wait for it", async () => {
    let asked = 0;
    const agent = {
      // The request of the first call is ended before it returns.
      ready: () => (asked++ === 0 ? new Promise<void>(() => undefined) : Promise.resolve()),
      run: () => paced(),
    };
    const { fetch } = create(agent as never);
    const { host, answer } = send(fetch, post({ messages: [] }));
    void answer;
    const second = read(fetch, post({ messages: [] }));
    host.end();
    expect(typesOf(await second).at(-1)).toBe("RUN_FINISHED");
  });

  test("a client that resumes is served by the timers of its request", async () => {
    const { fetch } = create(async function* () {
      yield "first";
      await sleep(1_000_000);
    });
    const first = send(fetch, post({ threadId: "t", runId: "r", messages: [] }));
    const reader = (await first.answer).body!.getReader();
    await reader.read();
    const again = new Request("http://test.local/agui/runs/r/events", {
      headers: { "last-event-id": "1" },
    });
    const second = send(fetch, again);
    const response = await second.answer;
    // Not one of the first request is used.
    first.host.end();
    const follower = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const { value } = await follower.read();
    expect(String(value)).toContain("first");
    expect(second.host.timers.size).toBeGreaterThan(0);
    await follower.cancel();
  });

  test("a stop is done in the request of the run", async () => {
    const reasons: (HostRequest | undefined)[] = [];
    const { fetch, runs } = create(async function* (_input, { signal }) {
      signal.addEventListener("abort", () => reasons.push(current.getStore()));
      yield "first";
      await new Promise(() => undefined);
    });
    const input = { threadId: "t", runId: "r", protocolVersion: "1.0", messages: [] };
    const first = send(fetch, post(input));
    const text = (await first.answer).text();
    const stop = send(fetch, post({}, { path: "/agui/runs/r/stop" }));
    expect((await stop.answer).ok).toBe(true);
    stop.host.end();
    expect(parseSse(await text).at(-1)).toMatchObject({ outcome: { type: "cancelled" } });
    expect(reasons).toEqual([first.host]);
    expect(runs.list()).toEqual([]);
  });

  test("a run whose request was ended by the host frees its thread", async () => {
    const logger = memoryLogger();
    const { fetch, runs } = create(
      async function* (input) {
        yield "half";
        if (input.messages.length === 1) await new Promise(() => undefined);
      },
      { logger },
    );
    const first = userMessage("one");
    const lost = send(fetch, post({ threadId: "t", runId: "r1", messages: [first] }));
    const reader = (await lost.answer).body!.getReader();
    await reader.read();
    lost.host.end();
    late = 11_000;
    const messages = [first, userMessage("two")];
    const events = await read(fetch, post({ threadId: "t", runId: "r2", messages }));
    expect(typesOf(events).at(-1)).toBe("RUN_FINISHED");
    expect(runs.list()).toEqual([]);
    expect(logger.records.map(({ message }) => message)).toContain(
      "The request of a run has ended before the run.",
    );
  });

  test("the platform waits for a run whose client takes the whole answer", async () => {
    const { fetch } = create(paced);
    const body = { message: "hi" };
    const { host, answer } = send(fetch, post(body, { path: "/agent/default/chat" }));
    expect((await answer).status).toBe(200);
    expect(host.waiting).toHaveLength(1);
    await host.waiting[0];
  });
});
