import { afterEach, describe, expect, test } from "vitest";
import { start } from "../server.ts";
import type { StartOptions } from "../server.ts";
import { collect, deferred, lockstep, patient, readLines, userInput } from "./_helpers.ts";
import type { Line } from "./_helpers.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serve(options: StartOptions = {}): Promise<string> {
  const server = await start(0, options);
  closing.push(() => server.close());
  return `${server.url}/ndjson`;
}

function post(url: string, input: unknown, signal?: AbortSignal): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(input),
    ...(signal && { signal }),
  });
}

const types = (lines: readonly Line[]) => lines.map(({ event }) => event.type);

// The log keeps neighbouring deltas as one, so that only what they say can be compared.
function merge(lines: readonly Line[]): Line[] {
  return lines.reduce<Line[]>((merged, line) => {
    const last = merged.at(-1);
    const isNext = last?.event.delta !== undefined && last.event.type === line.event.type;
    if (!isNext) return [...merged, line];
    const event = { ...line.event, delta: `${last.event.delta}${line.event.delta}` };
    return [...merged.slice(0, -1), { offset: line.offset, event }];
  }, []);
}

describe("the NDJSON protocol", () => {
  test("sends every event when the agent makes it, on its own line", async () => {
    const words = ["one ", "two ", "three ", "four"];
    const { agent, follow } = lockstep(words);
    const response = await post(await serve({ agent }), userInput("run-1"));
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    expect(response.headers.get("x-run-id")).toBe("run-1");
    expect(await follow(readLines(response))).toEqual(words);
  });

  test("numbers a whole run from its start to its end", async () => {
    const url = await serve({ agent: async () => "Hello" });
    const lines = await collect(readLines(await post(url, userInput("run-1"))));
    expect(lines.map(({ offset }) => offset)).toEqual([1, 2, 3, 4, 5]);
    expect(types(lines)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
  });

  test("gives exactly the rest after any offset", async () => {
    const url = await serve({
      agent: async function* () {
        yield* ["a", "b", "c", "d"];
      },
    });
    const whole = await collect(readLines(await post(url, userInput("run-1"))));
    expect(whole).toHaveLength(8);
    for (let offset = 0; offset <= whole.length; offset += 1) {
      const response = await fetch(`${url}/run-1?offset=${offset}`);
      const rest = await collect(readLines(response));
      expect(merge(rest)).toEqual(merge(whole.slice(offset)));
      // A piece that was merged with the one the client has already is cut there.
      expect(rest[0]?.offset ?? Infinity).toBeGreaterThan(offset);
    }
  });

  test("lets a client that was cut off go on where it stopped, while the run goes on", async () => {
    const cut = deferred();
    const url = await serve({
      agent: async function* () {
        yield "before ";
        await cut.promise;
        yield "after";
      },
    });
    const leave = new AbortController();
    const seen: Line[] = [];
    const first = readLines(await post(url, userInput("run-1"), leave.signal));
    while (seen.length < 3) seen.push((await first.next()).value as Line);
    leave.abort();

    const again = readLines(await fetch(`${url}/run-1?offset=3`));
    const rest = collect(again);
    cut.resolve();
    expect(await rest).toMatchObject([
      { offset: 4, event: { type: "TEXT_MESSAGE_CONTENT", delta: "after" } },
      { offset: 5, event: { type: "TEXT_MESSAGE_END" } },
      { offset: 6, event: { type: "RUN_FINISHED" } },
    ]);
    expect(types(seen)).toEqual(["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT"]);
  });

  test("stops a run on request and reports it at its end", async () => {
    const { agent, aborted } = patient();
    const url = await serve({ agent });
    const lines = readLines(await post(url, userInput("run-1")));
    await lines.next();
    expect((await fetch(`${url}/run-1`, { method: "DELETE" })).status).toBe(204);
    expect(await aborted).toMatchObject({ code: "stopped" });
    expect((await collect(lines)).at(-1)).toMatchObject({
      event: { type: "RUN_FINISHED", outcome: { type: "cancelled" } },
    });
  });

  test.for([
    ["an unknown run", "GET", "/nobody", 404, "run-not-found"],
    ["stopping an unknown run", "DELETE", "/nobody", 404, "run-not-found"],
    ["an offset that is no number", "GET", "/run-1?offset=x", 400, "invalid-request"],
  ] as const)("refuses %s", async ([, method, path, status, code]) => {
    const url = await serve({ agent: async () => "Hello" });
    await (await post(url, userInput("run-1"))).text();
    const response = await fetch(url + path, { method });
    expect([response.status, await response.json()]).toMatchObject([status, { code }]);
  });

  test("refuses a wrong input with its faults", async () => {
    const response = await post(await serve(), { messages: "hi" });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "invalid-request" });
  });
});
