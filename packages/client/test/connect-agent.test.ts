import { HttpAgent } from "@ag-ui/client";
import { HttpAgent as HttpAgent0 } from "ag-ui-client-0";
import type { AgentLike } from "@holodeck/agui";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { connectAgent, resumable } from "../src/index.ts";
import { answer, endAll, start, watchRejections } from "./_server.ts";

afterEach(endAll);

beforeEach(watchRejections);

const agents = [
  ["1.0", HttpAgent],
  ["0.0.59", HttpAgent0 as unknown as typeof HttpAgent],
] as const;

/** An agent that stops in the middle of its answer until the gate opens. */
function createGated(): { agent: AgentLike; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return {
    open: () => open(),
    async *agent(_, { state }) {
      yield "Hello ";
      await state.set({ step: 1 });
      await opened;
      yield "world";
    },
  };
}

const texts = (agent: HttpAgent): unknown[] => agent.messages.map(({ content }) => content);

describe.for(agents)("connectAgent with HttpAgent %s", ([, Agent]) => {
  test("shows a page that was loaded again the answer that goes on", async () => {
    const { agent, open } = createGated();
    const { url } = await start(agent);
    const options = { url: `${url}/agui`, threadId: "t" };
    const before = new Agent(options);
    before.addMessage({ id: "q", role: "user", content: "hi" });
    const running = before.runAgent();
    await expect.poll(() => texts(before)).toEqual(["hi", "Hello "]);
    const page = new Agent({ ...options, fetch: resumable(fetch) });
    const connected = connectAgent(page);
    await expect.poll(() => texts(page)).toEqual(["hi", "Hello "]);
    expect(page.state).toEqual({ step: 1 });
    open();
    await connected;
    await running;
    expect(texts(page)).toEqual(["hi", "Hello world"]);
    // And its next run is an ordinary one.
    page.addMessage({ id: "q2", role: "user", content: "again" });
    await page.runAgent();
    expect(texts(page)).toEqual(["hi", "Hello world", "again", "Hello world"]);
  });

  test("resumes when its own connection is cut", async () => {
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    const server = await start(async function* () {
      yield "Hello ";
      await opened;
      yield* answer;
    });
    const before = new Agent({ url: `${server.url}/agui`, threadId: "t" });
    before.addMessage({ id: "q", role: "user", content: "hi" });
    const running = before.runAgent();
    await expect.poll(() => texts(before)).toEqual(["hi", "Hello "]);
    const proxy = await server.cutting(2000, 900, 1000);
    const page = new Agent({
      url: `${proxy.url}/agui`,
      threadId: "t",
      fetch: resumable(fetch, { delayMs: 1 }),
    });
    const connected = connectAgent(page);
    await expect.poll(() => texts(page)).toEqual(["hi", "Hello "]);
    open();
    await Promise.all([connected, running]);
    expect(texts(page)).toEqual(["hi", `Hello ${answer.join("")}`]);
    expect(proxy.cuts()).toBe(3);
  });

  test("shows a thread without a run, and nothing of an unknown one", async () => {
    const { url } = await start();
    const of = (threadId: string): HttpAgent => new Agent({ url: `${url}/agui`, threadId });
    const first = of("t");
    first.addMessage({ id: "q", role: "user", content: "hi" });
    await first.runAgent();
    const [again, unknown] = [of("t"), of("unknown")];
    await connectAgent(again);
    await connectAgent(unknown);
    expect(texts(again)).toEqual(texts(first));
    expect(unknown.messages).toEqual([]);
  });

  test("passes its arguments on, and ends when the agent is aborted", async () => {
    const { agent, open } = createGated();
    const { url } = await start(agent);
    const options = { url: `${url}/agui`, threadId: "t" };
    const before = new Agent(options);
    before.addMessage({ id: "q", role: "user", content: "hi" });
    const running = before.runAgent();
    const page = new Agent({ ...options, fetch: resumable(fetch) });
    await expect.poll(() => texts(before)).toEqual(["hi", "Hello "]);
    const seen: string[] = [];
    const connected = connectAgent(
      page,
      {},
      { onEvent: ({ event }) => void seen.push(event.type) },
    );
    await expect.poll(() => seen).toContain("MESSAGES_SNAPSHOT");
    page.abortRun();
    await connected.catch(() => {});
    const again = connectAgent(page);
    open();
    await again;
    await running;
    expect(texts(page)).toEqual(["hi", "Hello world"]);
  });
});

test("asks with the headers and the query of the agent", async () => {
  const asked: [string, Headers][] = [];
  const agent = new HttpAgent({
    url: "http://host/agui?tenant=1",
    threadId: "a b",
    headers: { authorization: "Bearer x" },
    fetch: async (url, init) => {
      asked.push([url, new Headers(init.headers)]);
      return new Response("", { headers: { "content-type": "text/event-stream" } });
    },
  });
  await connectAgent(agent);
  const [[url, headers]] = asked as [[string, Headers]];
  expect(url).toBe("http://host/agui?tenant=1&threadId=a+b&protocolVersion=1.0");
  expect([...headers]).toEqual([
    ["accept", "text/event-stream"],
    ["authorization", "Bearer x"],
  ]);
});
