import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createAgentHandler, memorySessions } from "@holodeck/agui";
import type { AgentHandlerOptions, RunContext } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import { fakeClock, runAgent, runContext, runInput } from "@holodeck/agui-testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasRedis, startRedis } from "../../sessions/test/_redis.ts";
import type { TestRedis } from "../../sessions/test/_redis.ts";
import { bearerAuth, rateLimit } from "../src/index.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

function createAsk(
  options: Partial<AgentHandlerOptions>,
): (init?: { threadId?: string; token?: string }) => Promise<Response> {
  const { fetch } = createAgentHandler(async () => "Hello", { logger: silentLogger, ...options });
  let count = 0;
  return ({ threadId = `t${++count}`, token = "ada" } = {}) =>
    fetch(
      new Request("http://test.local/agui", {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify(runInput({ threadId, runId: `r${++count}` })),
      }),
    );
}

const whoever = bearerAuth({ verify: (token) => ({ id: token }) });

/** Status by status, each answer read to its end. */
async function statuses(answers: readonly Promise<Response>[]): Promise<number[]> {
  return Promise.all(
    answers.map(async (answer) => {
      const response = await answer;
      await response.text();
      return response.status;
    }),
  );
}

const from = (ip: string): RunContext =>
  runContext({
    request: () => ({
      method: "POST",
      url: new URL("http://test.local/agui"),
      headers: new Headers(),
      ip,
      native: undefined,
    }),
  });

describe("rateLimit", () => {
  test("refuses a run too many before anything is streamed, with the time to come back", async () => {
    const clock = fakeClock();
    const ask = createAsk({ middleware: [rateLimit({ runs: 2, perMs: 60_000 })], clock });
    expect(await statuses([ask(), ask()])).toEqual([200, 200]);
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      "content-type": "application/problem+json",
      "retry-after": "30",
      ratelimit: '"runs";r=0;t=30',
      "ratelimit-policy": '"runs";q=2;w=60',
    });
    expect(await refused.json()).toMatchObject({
      code: "rate-limited",
      detail: "Too many runs; try again in 30 s.",
    });
    clock.tick(30_000);
    expect(await statuses([ask(), ask()])).toEqual([200, 429]);
  });

  test("counts each principal's own", async () => {
    const ask = createAsk({ middleware: [whoever, rateLimit({ runs: 1 })] });
    const answers = ["ada", "bob", "ada"].map((token) => ask({ token }));
    expect(await statuses(answers)).toEqual([200, 200, 429]);
  });

  test("counts each thread's own", async () => {
    const ask = createAsk({ middleware: [rateLimit({ runs: 1, by: "thread" })] });
    expect(await statuses([ask({ threadId: "a" })])).toEqual([200]);
    expect(await statuses([ask({ threadId: "b" })])).toEqual([200]);
    expect(await statuses([ask({ threadId: "a" })])).toEqual([429]);
  });

  test("counts the threads of two principals apart, whatever characters their ids have", async () => {
    const auth = bearerAuth({ verify: (token) => ({ id: token.replace(".", ":") }) });
    const ask = createAsk({ middleware: [rateLimit({ runs: 1, by: "thread" }), auth] });
    const first = { token: "a", threadId: "b:c" };
    const second = { token: "a.b", threadId: "c" };
    expect(await statuses([ask(first), ask(second)])).toEqual([200, 200]);
    expect(await statuses([ask(first), ask(second)])).toEqual([429, 429]);
  });

  test("counts by a rule of one's own", async () => {
    const limit = rateLimit({ runs: 1, by: (_, { principal }) => String(principal?.id[0]) });
    const ask = createAsk({ middleware: [whoever, limit] });
    const answers = ["ada", "abe", "bob"].map((token) => ask({ token }));
    expect(await statuses(answers)).toEqual([200, 429, 200]);
  });

  test.for<[string, string, boolean]>([
    ["192.0.2.1", "192.0.2.2", false],
    ["192.0.2.1", "::ffff:192.0.2.1", true],
    ["2001:db8::1", "2001:db8:0:0:ffff::9", true],
    ["2001:db8::1", "2001:0DB8::1%eth0", true],
    ["2001:db8::1", "2001:db8:0:1::1", false],
    ["::1", "::2", true],
  ])("takes %s and %s for one client: %s", async ([one, other, isSame]) => {
    const { admit } = rateLimit({ runs: 1, sessions: memorySessions() });
    await admit(runInput(), from(one));
    const second = Promise.resolve(admit(runInput(), from(other)));
    if (isSame) await expect(second).rejects.toMatchObject({ code: "rate-limited" });
    else await expect(second).resolves.toBeUndefined();
  });

  test("keeps limits of different names apart", async () => {
    const burst = rateLimit({ runs: 1, name: "burst" });
    const daily = rateLimit({ runs: 2, name: "daily", perMs: 86_400_000 });
    const ask = createAsk({ middleware: [daily, burst] });
    expect((await ask()).status).toBe(200);
    expect((await ask()).headers.get("ratelimit-policy")).toBe('"burst";q=1;w=60');
    expect((await ask()).headers.get("ratelimit-policy")).toBe('"daily";q=2;w=86400');
  });

  test("takes a store where there is no handler", async () => {
    const middleware = [rateLimit({ runs: 1, sessions: memorySessions() })];
    const agent = async (): Promise<string> => "Hello";
    expect((await runAgent(agent, { middleware })).text).toBe("Hello");
    await expect(runAgent(agent, { middleware })).rejects.toMatchObject({ code: "rate-limited" });
    await expect(runAgent(agent, { middleware: [rateLimit({ runs: 1 })] })).rejects.toThrow(
      "{ sessions: memorySessions() }",
    );
  });

  test.for<[unknown, string]>([
    [{}, "rateLimit's runs must be a number at least 1, not undefined."],
    [{ runs: 0 }, "not 0."],
    [{ runs: 1, perMs: 0 }, "rateLimit's perMs must be a number above 0, not 0."],
    [{ runs: 1, by: "user" }, "Expected one of: principal, address, thread."],
    [{ runs: 1, name: 'a"b' }, "rateLimit's name must be a short word"],
    [{ runs: 1, per: 1 }, "Did you mean perMs?"],
  ])("refuses %j", ([options, message]) => {
    expect(() => rateLimit(options as never)).toThrow(message);
  });

  test("does not count under a key that is no string", async () => {
    const { admit } = rateLimit({
      runs: 1,
      by: (() => undefined) as never,
      sessions: memorySessions(),
    });
    await expect(admit(runInput(), runContext())).rejects.toThrow("must return a string");
  });
});

const suite = "rateLimit of two processes on one Redis";

describe.skipIf(!hasRedis(suite))(suite, () => {
  const runs = 20;
  const children: ChildProcess[] = [];
  let redis: TestRedis | undefined;

  async function spawnServer(): Promise<number> {
    const script = fileURLToPath(new URL("_rate-limit-child.ts", import.meta.url));
    const args = [...sourceFlags, script];
    const child = spawn(process.execPath, [...args, String(redis!.port), String(runs)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    for await (const chunk of child.stdout) return Number(String(chunk));
    throw new Error("A server did not start.");
  }

  beforeAll(async () => {
    redis = await startRedis(suite);
  });
  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    await redis?.stop();
  });

  test("admits exactly as many runs as its options set", async () => {
    const ports = await Promise.all([spawnServer(), spawnServer()]);
    const answers = Array.from({ length: 3 * runs }, (_, index) =>
      fetch(`http://127.0.0.1:${ports[index % 2]}/agui`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(runInput({ threadId: `t${index}`, runId: `r${index}` })),
      }),
    );
    const seen = await statuses(answers);
    expect(seen.filter((status) => status === 200)).toHaveLength(runs);
    expect(seen.filter((status) => status === 429)).toHaveLength(2 * runs);
  });
});
