import { createAgentHandler } from "@holodeck/agui";
import type { AgentFunction } from "@holodeck/agui";
import { serve } from "@holodeck/agui-node";
import { silentLogger } from "@holodeck/agui-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer } from "./_broken-server.ts";
import { runCli } from "./_cli.ts";
import { runMain } from "./_run-main.ts";

const talker: AgentFunction = async function* () {
  yield "Grüße, ";
  yield "漢字 🙂";
};
const worker: AgentFunction = async (_input, { emit, state }) => {
  await emit.step("look", async () => {
    await emit.reasoning("Where is it?");
    const call = emit.toolCall("weather", { city: "Köln" });
    await emit.toolResult(call, { sky: "clear" });
  });
  await state.set({ count: 1 });
  await state.set({ count: 2 });
  emit.activity("search", { hits: 1 });
  await emit.subagent("writer", async (own) => {
    await own.text("A clear sky.");
  });
};
const asker: AgentFunction = async (_input, { emit }) => {
  emit.toolCall("pick_colour", { from: ["red", "blue"] });
};
const failing: AgentFunction = async function* () {
  yield "Well, ";
  throw new Error("connect postgres://app:hunter2@db at /home/ada/agent.ts");
};

let served: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  const agents: AgentFunction = (input, context) => {
    const said = input.messages.at(-1)?.content as string;
    const chosen = { work: worker, ask: asker, fail: failing }[said] ?? talker;
    return chosen(input, context);
  };
  served = await serve(createAgentHandler(agents, { logger: silentLogger }), {
    port: 0,
    signals: false,
  });
});
afterAll(() => served.close());

describe("our own server", () => {
  test("breaks no rule, whatever its agents do", async () => {
    const prompts = ["hello", "work", "ask", "fail"].flatMap((text) => ["--agent-prompt", text]);
    const { code, out } = await runMain("check", `${served.url}/agui`, "--json", ...prompts);
    const { checks } = JSON.parse(out) as { checks: any[] };
    expect(checks.filter(({ verdict }) => verdict === "breaks")).toEqual([]);
    expect(code).toBe(0);
    const shown = checks.filter(({ verdict }) => verdict === "holds").map(({ id }) => id);
    expect(shown).toEqual(
      expect.arrayContaining([
        "tool-args",
        "tool-results",
        "reasoning",
        "steps",
        "subagents",
        "state",
        "activities",
        "run-error",
        "error-leaks",
        "second-run",
        "protobuf",
        "survives-leaving",
      ]),
    );
  });

  test.for([["ask"], ["work"]])("breaks none when %s is all it does", async ([prompt]) => {
    const url = `${served.url}/agui`;
    const { code, out } = await runMain("check", url, "--agent-prompt", prompt!);
    expect(out).toMatch(/\d+ hold, 0 break, /);
    expect(code).toBe(0);
  });
});

describe("a server of 0.0.x", () => {
  test("is held against the rules of its time", async () => {
    const server = await startServer({
      events: ([start, ...events]) => [
        { ...start!, protocolVersion: undefined, parentRunId: null },
        { type: "THINKING_START" },
        { type: "THINKING_END" },
        ...events.filter(({ type }) => !type.startsWith("SUBAGENT_")),
      ],
    });
    const { code, out } = await runMain("check", server.url, "--json");
    await server.close();
    const { checks } = JSON.parse(out) as { checks: any[] };
    expect(checks.filter(({ verdict }) => verdict === "breaks")).toEqual([]);
    expect(checks.find(({ id }) => id === "version")).toMatchObject({
      verdict: "does not apply",
      note: "It uses 0.0.x, which has no version.",
    });
    expect(code).toBe(0);
  });
});

describe("the report", () => {
  test("is a table of 80 columns without colours, and the exit code has the outcome", async () => {
    const server = await startServer({
      bytes: (text) => `: \u001B[2J\n\n${text}data: [DONE]\u001B[2J\n\ndata: [DONE]\n\n`,
    });
    const { code, out, err } = await runCli(["check", server.url]);
    expect(code).toBe(1);
    await server.close();
    expect(err).toBe("");
    expect(out).toMatch(/^BREAKS {5}no-done {12}sends no \[DONE\]$/m);
    expect(out).toMatch(/^ {11}seen {2}data: \[DONE\]$/m);
    expect(out).toMatch(/^ {11}rule {2}AG-UI has no \[DONE\]/m);
    expect(out).toMatch(/\d+ hold, 2 break, \d+ do(es)? not apply, \d+ not shown\n$/);
    expect(out).not.toContain("\u001B");
    const longest = Math.max(...out.split("\n").map((line) => line.length));
    expect(longest).toBeLessThanOrEqual(80);
  });

  test("sends the headers it is given", async () => {
    const handler = createAgentHandler(talker, {
      logger: silentLogger,
      authenticate: ({ headers }) =>
        headers.get("authorization") === "Bearer let-me-in" ? { id: "ada" } : null,
    });
    const own = await serve(handler, { port: 0, signals: false });
    const url = `${own.url}/agui`;
    const outside = await runMain("check", url);
    const inside = await runMain("check", url, "--header", "Authorization: Bearer let-me-in");
    await own.close();
    expect(outside.code).toBe(1);
    expect(outside.out).toMatch(/BREAKS {5}answers[^]*Does it need a --header\? Status 401/);
    expect(inside.code).toBe(0);
  });
});

describe("wrong use", () => {
  test.for<[args: string[], says: RegExp]>([
    [[], /Which endpoint\? Try: holodeck check http/],
    [["ftp://x"], /"ftp:\/\/x" is not a URL of http or https/],
    [["http://"], /"http:\/\/" is not a URL/],
    [
      ["http://127.0.0.1:1/agui"],
      /No server responded at http:\/\/127.0.0.1:1\/agui: .*ECONNREFUSED/,
    ],
    [
      ["http://x", "--header", "nonsense"],
      /"nonsense" is not a header\. Write --header 'name: value'\./,
    ],
    [["http://x", "--timeout", "soon"], /"soon" is not a time: use seconds/],
    [["http://x", "--colour"], /--colour[^]*Usage: holodeck check/],
    [["http://x", "http://y"], /One URL at a time, not 2\./],
  ])("%j is answered with a sentence and exit code 2", async ([args, says]) => {
    const { code, out, err } = await runMain("check", ...args);
    expect(err).toMatch(says);
    expect(out).toBe("");
    expect(code).toBe(2);
  });

  test("has a page of help", async () => {
    const { code, out } = await runMain("check", "--help");
    expect(out).toMatch(/Usage: holodeck check <url>[^]*--agent-prompt[^]*Exit code/);
    expect(code).toBe(0);
  });
});
