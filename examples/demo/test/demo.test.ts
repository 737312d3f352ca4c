import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { mockSink, runAgent } from "@holodeck/agui-testing";
import { afterEach, describe, expect, test } from "vitest";
import { demoAgent } from "../agent.ts";

const folder = fileURLToPath(new URL("..", import.meta.url));
const running = new Set<ChildProcess>();

afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
});

// Starts the demo as `npm run demo` does and resolves when it has printed its curl line.
async function start(port: number): Promise<{ child: ChildProcess; url: string; lines: string[] }> {
  const flags = ["--conditions=@holodeck/source", "--import=tsx"];
  const child = spawn(process.execPath, [...flags, "server.ts", "--port", String(port)], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.add(child);
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    const url = /curl .* (http:\/\/\S+\/agui) /.exec(line)?.[1];
    if (url !== undefined) return { child, url, lines };
  }
  throw new Error(`The demo ended early:\n${lines.join("\n")}`);
}

async function ask(url: string): Promise<string[]> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "hi" }] }),
  });
  const events = (await response.text()).split("\n").filter((line) => line.startsWith("data:"));
  return events.map((line) => JSON.parse(line.slice("data:".length)).type);
}

describe("the demo", () => {
  test("answers the curl line it prints with a whole run and stops on SIGTERM", async () => {
    const { child, url } = await start(0);
    const types = await ask(url);
    expect(types[0]).toBe("RUN_STARTED");
    expect(types.at(-1)).toBe("RUN_FINISHED");
    expect(types).toContain("TOOL_CALL_RESULT");
    expect(types).toContain("STATE_SNAPSHOT");
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test("takes the next free port and says so when its own is in use", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const { url, lines } = await start(port);
    taken.close();
    expect(lines).toContain(`Port ${port} is in use, trying ${port + 1}.`);
    expect(Number(new URL(url).port)).toBeGreaterThan(port);
  });
});

describe("the demo agent", () => {
  test("repeats what it was told, looks at the weather and counts its runs", async () => {
    const sink = mockSink();
    await runAgent(demoAgent, { message: "good morning", sink });
    expect(sink.text).toContain("You said: good morning");
    expect(sink.toolCalls).toMatchObject([{ name: "get_weather" }]);
    expect(sink.state).toMatchObject({ runs: 1, weather: { city: "Berlin" } });
  });
});
