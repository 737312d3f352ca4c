import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createAgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { expect, test } from "vitest";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

const hasScript = spawnSync("script", ["--version"]).status === 0;
const bin = fileURLToPath(new URL("../src/bin.ts", import.meta.url));

test.runIf(hasScript)(
  "at a terminal reasoning is dim, Ctrl-C stops the run and the next one leaves",
  async () => {
    const handler = createAgentHandler(
      async (_input, { emit, signal }) => {
        await emit.reasoning("Hm.");
        await emit.text("Working");
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve());
        });
      },
      { logger: silentLogger },
    );
    const served = await serve(handler, { port: 0, signals: false });
    const words = [process.execPath, ...sourceFlags, bin, "chat", `${served.url}/agui`];
    const { NO_COLOR: _, ...env } = process.env;
    // `script` gives the command a terminal of its own.
    const child = spawn("script", ["-qfec", words.join(" "), "/dev/null"], {
      env: { ...env, TERM: "xterm" },
    });
    let shown = "";
    child.stdout.on("data", (chunk: Buffer) => void (shown += chunk.toString("utf8")));
    const ended = new Promise<number | null>((resolve) => {
      child.on("close", resolve);
    });
    try {
      const sees = (pattern: RegExp): Promise<void> =>
        expect.poll(() => shown, { timeout: 60_000 }).toMatch(pattern);
      await sees(/> /);
      // A slip of the finger: the line is drawn anew, with its prompt.
      child.stdin.write("gp\u007Fo\r");
      await sees(/Working/);
      expect(shown).toContain("\u001B[2mHm.\u001B[0m");
      child.stdin.write("\u0003");
      await sees(/Stopped\.[^]*> /);
      child.stdin.write("\u0003");
      expect(await ended).toBe(130);
    } finally {
      child.kill("SIGKILL");
      await served.close();
    }
  },
);
