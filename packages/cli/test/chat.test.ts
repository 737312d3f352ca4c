import { createServer, connect } from "node:net";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgentHandler } from "@holodeck/agui";
import type { AgentFunction, AgentHandlerOptions } from "@holodeck/agui";
import { AgentError, silentLogger } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { defineTool } from "@holodeck/agui-tools";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { startServer, toFrame } from "./_broken-server.ts";
import { startCli } from "./_cli.ts";
import { runMain, typeTo } from "./_run-main.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function start(agent: AgentFunction, options: AgentHandlerOptions = {}): Promise<string> {
  const handler = createAgentHandler(agent, { logger: silentLogger, ...options });
  const { url, close } = await serve(handler, { port: 0, signals: false });
  closing.push(close);
  return `${url}/agui`;
}

function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe("one turn", () => {
  test("streams: each word is on the screen when the agent has sent it", async () => {
    const { opened, open } = gate();
    const url = await start(async function* () {
      yield "One, ";
      await opened;
      yield "two.";
    });
    const cli = startCli(["chat", url, "Count,", "please"]);
    await cli.waitFor(/^One, /);
    expect(cli.out).toBe("One, ");
    open();
    expect(await cli.ended).toMatchObject({ code: 0, out: "One, two.\n", err: "" });
  });

  test("shows reasoning, tool calls with arguments and results, and what changed in the state", async () => {
    const url = await start(async (_input, { emit, state }) => {
      await emit.reasoning("Let me look.");
      const call = emit.toolCall("weather", { city: "Köln" });
      await emit.toolResult(call, { sky: "clear" });
      await state.set({ city: "Köln", days: [1] });
      await state.patch([{ op: "add", path: "/days/-", value: 2 }]);
      await emit.text("A clear sky.");
    });
    const { code, out } = await runMain("chat", url, "Weather?");
    expect(out.split("\n")).toEqual([
      "Let me look.",
      '→ weather {"city":"Köln"}',
      '← weather {"sky":"clear"}',
      "state /city /days",
      "state /days/-",
      "A clear sky.",
      "",
    ]);
    expect(code).toBe(0);
  });

  test("ends with 1 and the error's code when the agent fails", async () => {
    const url = await start(async function* () {
      yield "Well, ";
      throw new AgentError("vendor/quota", "The quota is used up.");
    });
    const { code, out } = await runMain("chat", url, "hi");
    expect(out).toBe("Well, \nThe quota is used up. (vendor/quota)\n");
    expect(code).toBe(1);
  });

  test("shows the problem details of a refusal", async () => {
    const url = await start(async () => "never", { authenticate: () => null });
    const { code, out } = await runMain("chat", url, "hi");
    expect(out).toMatch(/^401 Unauthorized\n.+\.\ncode authentication-required\nrequest \w+\n$/);
    expect(code).toBe(1);
  });

  test("reports that no server answers", async () => {
    const server = await startServer();
    await server.close();
    const { code, out } = await runMain("chat", server.url, "hi");
    expect(out).toMatch(/^No server responded at http:\/\/127.0.0.1:\d+\/: .*ECONNREFUSED/);
    expect(code).toBe(1);
  });

  test("sends the thread and the headers it is given", async () => {
    const url = await start(
      async (_input, { threadId, principal }) => `${threadId} ${principal?.id}`,
      {
        authenticate: ({ headers }) => ({ id: headers.get("x-user") ?? "nobody" }),
      },
    );
    const args = ["--thread", "t-1", "--header", "X-User: ada", "hi"];
    expect(await runMain("chat", url, ...args)).toMatchObject({ code: 0, out: "t-1 ada\n" });
  });

  test("prints one event a line with --json, and nothing else", async () => {
    const url = await start(async function* () {
      yield "\u009B2Jhello";
    });
    const { code, out } = await runMain("chat", url, "--json", "hi");
    const events = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(events.map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(events[2]).toHaveProperty("delta", "\u009B2Jhello");
    expect(out).not.toContain("\u009B");
    expect(code).toBe(0);
  });

  test("talks to a server of another make, with CRLF and chunks", async () => {
    const server = await startServer({
      frame: (event) => toFrame(event).replaceAll("\n", "\r\n"),
    });
    closing.push(server.close);
    const { code, out } = await runMain("chat", server.url, "hello");
    expect(out).toContain("Clear sky over Köln 🙂\nAnd more.\n");
    expect(code).toBe(0);
  });

  test("goes on after a dropped connection", async () => {
    const { opened, open } = gate();
    const url = await start(
      async function* () {
        yield "One, ";
        await opened;
        yield "two.";
      },
      { onDisconnect: "continue" },
    );
    const proxy = await cutOnce(Number(new URL(url).port), "One, ", open);
    const { code, out } = await runMain("chat", url.replace(/:\d+/, `:${proxy}`), "Count");
    expect(out).toBe("One, \nThe connection was lost; resuming.\ntwo.\n");
    expect(code).toBe(0);
  });

  test("reports that a run was cut when the server cannot go on with it", async () => {
    const server = await startServer({
      answer({ threadId, runId }, response) {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const start = toFrame({ type: "RUN_STARTED", threadId, runId });
        response.write(start, () => response.socket?.destroy());
        return true;
      },
    });
    closing.push(server.close);
    const { code, out } = await runMain("chat", server.url, "hi");
    expect(out).toBe("The connection ended before the run did.\n");
    expect(code).toBe(1);
  });
});

describe("a question of the agent's", () => {
  const refund = defineTool({
    name: "refund",
    description: "Pays back.",
    parameters: z.object({ amount: z.number() }),
    needsApproval: true,
    execute: ({ amount }) => `paid ${amount}`,
  });
  const shop: AgentFunction = async (_input, { callTool, emit }) => {
    const outcome = await callTool("refund", { amount: 12 }).catch((error: Error) => error.name);
    await emit.text(`Done: ${JSON.stringify(outcome)}`);
  };

  test.for([
    ["y", /paid 12/],
    ["n", /^(?![^]*paid 12)[^]*Done: /],
  ] as const)("is answered with %s", async ([answer, says]) => {
    const url = await start(shop, { tools: [refund] });
    const { code, out } = await typeTo(["chat", url, "Refund it"], ["what?", answer]);
    expect(out.match(/\[y\/n\]/g)).toHaveLength(2);
    expect(out).toMatch(says);
    expect(code).toBe(0);
  });

  test("that gets no answer ends the turn with 1", async () => {
    const url = await start(shop, { tools: [refund] });
    const { code, out } = await runMain("chat", url, "Refund it");
    expect(out).toMatch(/The agent waits for an answer\.\n$/);
    expect(code).toBe(1);
  });

  test("that is no yes or no takes text or JSON", async () => {
    const url = await start(async (_input, { emit, session }) => {
      const [answer] = session.answers;
      if (answer) return `So ${JSON.stringify(answer.payload)}.`;
      emit.interrupt({ reason: "input_required", message: "Which colour?" });
    });
    const { code, out } = await typeTo(["chat", url, "Paint it"], ['{"colour":"red"}']);
    expect(out).toMatch(
      /Which colour\? \(JSON or text; an empty line cancels\)[^]*So \{"colour":"red"\}/,
    );
    expect(code).toBe(0);
  });

  test("for a tool of the client's takes JSON, and only JSON", async () => {
    const folder = await mkdtemp(join(tmpdir(), "holodeck-chat-"));
    closing.push(() => rm(folder, { recursive: true }));
    const tools = [
      { name: "pick", description: "Picks a colour.", parameters: { type: "object" } },
    ];
    await writeFile(join(folder, "tools.json"), JSON.stringify(tools));
    const url = await start(async (input, { emit }) => {
      const last = input.messages.at(-1);
      if (last?.role === "tool") return `You picked ${last.content as string}`;
      emit.toolCall("pick", { offered: input.tools.map(({ name }) => name) });
    });
    const lines = ["/tools tools.json", "Pick one", "red", '"red"', "/quit"];
    const { code, out } = await typeTo(["chat", url], lines, { cwd: folder });
    expect(out).toContain("pick: Picks a colour.");
    expect(out).toContain('→ pick {"offered":["pick"]}');
    expect(out).toMatch(/result of pick as JSON\? That is not JSON\.[^]*You picked "red"\n/);
    expect(code).toBe(0);
  });
});

describe("the prompt", () => {
  const counter: AgentFunction = async (input, { state }) => {
    const said = input.messages.filter(({ role }) => role === "user").length;
    await state.set({ said });
    return `${said} of ${input.messages.length}`;
  };

  test("keeps the history and the state, and starts again on request", async () => {
    const url = await start(counter);
    const cli = startCli(["chat", url]);
    for (const line of ["one", "two", "/state", "/new", "three", "/what", "", "/quit"]) {
      cli.type(`${line}\n`);
    }
    expect(await cli.ended).toMatchObject({ code: 0 });
    expect(cli.out.split("\n")).toEqual([
      url,
      "/state  /tools [file.json]  /new  /quit  Ctrl-C stops a run, then leaves",
      "> state /said",
      "1 of 1",
      "> state /said",
      "2 of 3",
      "> {",
      '  "said": 2',
      "}",
      expect.stringMatching(/^> A new thread: \w{26}$/),
      "> state /said",
      "1 of 1",
      expect.stringMatching(/^> Unknown command \/what\. Commands: /),
      "> > ",
    ]);
  });

  test("goes on after an error, and ends with its input", async () => {
    const url = await start(async (input) => {
      if (input.messages.length === 1) throw new AgentError("agent-error", "Not now.");
      return "Now.";
    });
    const { code, out } = await typeTo(["chat", url], ["one", "two"]);
    expect(out).toMatch(/Not now\. \(agent-error\)\n> Now\.\n> $/);
    expect(code).toBe(0);
  });

  test("stops the run on Ctrl-C, and leaves on the second", async () => {
    const aborted = gate();
    const url = await start(async function* (_input, { signal }) {
      yield "Working";
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve());
      });
      aborted.open();
    });
    const cli = startCli(["chat", url]);
    cli.type("go\n");
    await cli.waitFor(/Working/);
    cli.kill("SIGINT");
    await aborted.opened;
    await cli.waitFor(/Working\nStopped\.\n> $/m);
    cli.kill("SIGINT");
    expect(await cli.ended).toMatchObject({ code: 130 });
  });
});

describe("wrong use", () => {
  test.for<[args: string[], says: RegExp]>([
    [[], /Which endpoint\? Try: holodeck chat http/],
    [["http://x", "--thread", " "], /" " is not a thread id/],
    [["http://x", "--json"], /--json is for one turn/],
    [["http://x", "--wat"], /--wat[^]*Usage: holodeck chat/],
  ])("%j is answered with a sentence and exit code 2", async ([args, says]) => {
    const { code, err } = await runMain("chat", ...args);
    expect(err).toMatch(says);
    expect(code).toBe(2);
  });
});

/** A proxy that cuts its first connection after some text has passed; the port it listens on. */
async function cutOnce(port: number, after: string, whenCut: () => void): Promise<number> {
  let isCut = false;
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    client.pipe(upstream);
    for (const socket of [client, upstream]) socket.on("error", () => socket.destroy());
    upstream.on("data", (chunk: Buffer) => {
      client.write(chunk, () => {
        if (isCut || !chunk.includes(after)) return;
        isCut = true;
        client.destroy();
        upstream.destroy();
        whenCut();
      });
    });
    upstream.on("end", () => client.end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(async () => void server.close());
  return (server.address() as AddressInfo).port;
}
