import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { lateEndings, lateForms, lateSources } from "./_late-kinds.ts";
import type { LateEnding } from "./_late-kinds.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

interface Line {
  readonly port?: number;
  readonly fired?: string;
  readonly level?: string;
  readonly message?: string;
  readonly runId?: string;
  readonly agentId?: string;
}

/** A server process, with Node's own way with what is thrown and rejected: it ends the process. */
interface Child {
  readonly url: string;
  readonly lines: readonly Line[];
  /** What ended it, if anything did. */
  failure(): string | undefined;
  /** Resolves when a line is there, rejects when the process ends before. */
  line(matches: (line: Line) => boolean): Promise<Line>;
}

const open: (() => void)[] = [];
afterEach(() => open.splice(0).forEach((close) => close()));

async function start(ending: LateEnding): Promise<Child> {
  const script = fileURLToPath(new URL("_late-child.ts", import.meta.url));
  const child = spawn(process.execPath, [...sourceFlags, script, ending], {
    env: { ...process.env, NODE_OPTIONS: "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  open.push(() => child.kill("SIGKILL"));
  const lines: Line[] = [];
  const waiting = new Set<() => void>();
  let stderr = "";
  let exit: string | undefined;
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  child.on("close", (code, signal) => {
    exit = `It ended with ${code ?? signal}. ${stderr}`;
    for (const look of waiting) look();
  });
  createInterface(child.stdout).on("line", (text) => {
    lines.push(JSON.parse(text) as Line);
    for (const look of waiting) look();
  });
  const line = (matches: (line: Line) => boolean): Promise<Line> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = lines.find(matches);
        if (!found && exit === undefined) return;
        waiting.delete(look);
        if (found) resolve(found);
        else reject(new Error(exit));
      };
      waiting.add(look);
      look();
    });
  const { port } = await line((one) => one.port !== undefined);
  return { url: `http://127.0.0.1:${port}`, lines, line, failure: () => exit };
}

function post(url: string, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
}

const input = (runId: string, agentId: string): object => ({
  threadId: `thread-${runId}`,
  runId,
  agentId,
  messages: [{ id: "u", role: "user", content: "hi" }],
  tools: [],
  context: [],
});

/** Reads an answer until a word is in it. */
async function readUntil(response: Response, word: string): Promise<() => Promise<void>> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes(word)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`The answer is ${text}`);
    text += value;
  }
  return async () => {
    while (!(await reader.read()).done);
  };
}

interface LateRun {
  readonly id: string;
  readonly agent: string;
  readonly path: string;
}

const paths = ["/plain/agui", "/layered/agui"] as const;

/** Runs an agent until its run has ended in the way of this process. */
async function runOne({ url }: Child, ending: LateEnding, run: LateRun): Promise<void> {
  const leaving = new AbortController();
  const response = await post(`${url}${run.path}`, input(run.id, run.agent), leaving.signal);
  const readRest = await readUntil(response, "ready");
  if (ending === "disconnect") return leaving.abort();
  if (ending === "stop")
    expect((await post(`${url}${run.path}/runs/${run.id}/stop`, {})).ok).toBe(true);
  if (ending !== "shutdown") await readRest();
}

describe("what an agent calls after the end of its run", () => {
  test.for(lateEndings)(
    "leaves the server alive and is logged once per run (%s)",
    async (ending) => {
      const child = await start(ending);
      const runs = paths.flatMap((path, layer) =>
        lateSources
          .flatMap((source) => lateForms.map((form) => `${source}, ${form}`))
          .map((agent, index): LateRun => ({ id: `late-${layer}-${index}`, agent, path })),
      );
      await Promise.all(runs.map((run) => runOne(child, ending, run)));
      if (ending === "shutdown") expect((await post(`${child.url}/close`, {})).ok).toBe(true);
      await Promise.all(runs.map(({ id }) => child.line(({ fired }) => fired === id)));

      for (const path of ending === "shutdown" ? ["/other/agui"] : paths) {
        const next = await post(child.url + path, input(`next-${path.length}`, "default"));
        expect(await next.text()).toContain("Hello");
      }
      expect(child.failure()).toBeUndefined();
      const warnings = child.lines.filter(
        ({ level, message }) => level === "warn" && message?.includes("had ended"),
      );
      for (const { id, agent } of runs) {
        const own = warnings.filter(({ runId }) => runId === id);
        expect(own, agent).toHaveLength(1);
        expect(own[0]).toMatchObject({ agentId: agent });
        expect(own[0]?.message).toMatch(/^Agent ".+" called \S+.* after its run ".+" had ended/);
      }
    },
  );
});

describe("a call that an agent does not await", () => {
  test("leaves the server alive, and is a warning that names it", async () => {
    const child = await start("stop");
    const outcomes: Record<string, string> = {
      'callTool("nope")': '"Done"',
      'callTool("broken")': '"error":"tool-error"',
      'callTool("refund")': '"type":"interrupt"',
      'callTools("nope", "broken")': '"error":"tool-error"',
      'emit.step("plan")': '"STEP_FINISHED"',
      'emit.subagent("reader")': '"Done"',
      'emit.toolCall("weather")': '"TOOL_CALL_END"',
    };
    for (const [index, [agent, sent]] of Object.entries(outcomes).entries()) {
      for (const path of paths) {
        const id = `forgotten-${index}-${path.length}`;
        const answer = await (await post(child.url + path, input(id, agent))).text();
        expect(answer, agent).toContain(sent);
        expect(answer, agent).toContain('"RUN_FINISHED"');
        await child.line(
          ({ level, runId, message }) =>
            level === "warn" && runId === id && message!.startsWith(`${agent} was not awaited`),
        );
      }
    }
    const next = await post(`${child.url}/plain/agui`, input("next", "default"));
    expect(await next.text()).toContain("Hello");
    expect(child.failure()).toBeUndefined();
  });
});
