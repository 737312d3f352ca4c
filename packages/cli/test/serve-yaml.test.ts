import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli, scratch } from "./_cli.ts";
import { ask, startServe, write } from "./_serve.ts";
import { startModel } from "./yaml/_model-server.ts";
import type { ModelServer } from "./yaml/_model-server.ts";
import { fixtures } from "./yaml/_served.ts";

let model: ModelServer;
beforeAll(async () => {
  model = await startModel();
});
afterAll(() => model.close());

const agent = (): string => `name: helper
model:
  provider: openai-compatible
  name: small-model
  base_url: ${model.url}/v1
  api_key_env: MODEL_KEY
instructions: You are a helper.
tools:
  - type: mcp
    name: notes
    command: ${process.execPath}
    args: ["${fixtures}/mcp-stdio.mjs"]
limits:
  tool_timeout_ms: 3000
`;
const env = { MODEL_KEY: "a-key-of-the-test" };

describe("holodeck serve agent.yaml", () => {
  test("answers with tools over MCP, gives up one that hangs, and reads the file again", async () => {
    const file = write(scratch(), { "agent.yaml": agent() });
    const cli = await startServe([file, "--no-playground", "--watch"], { env });
    expect(cli.out).toContain("serves helper, and watches it");
    expect(cli.out).toMatch(/^ {2}Agents? +helper$/m);
    expect(cli.out).toContain("toolTimeout 3 s");

    model.script(
      { calls: [{ name: "read_note", args: { title: "monday" } }] },
      { calls: [{ name: "hang", args: {} }] },
      { text: "Bread." },
    );
    const { events, text } = await ask(cli.url, { content: "What was to do?" });
    const results = events.filter(({ type }) => type === "TOOL_CALL_RESULT");
    expect(results.map(({ content }) => content)).toEqual([
      "The note monday says: buy bread.",
      expect.stringContaining("timeout"),
    ]);
    expect(text).toBe("Bread.");
    expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
    expect(model.questions[0]?.headers.authorization).toBe(`Bearer ${env.MODEL_KEY}`);

    writeFileSync(file, readFileSync(file, "utf8").replace("a helper", "a poet"));
    await cli.waitFor(/was reloaded/);
    model.script({ text: "A rose." });
    expect(await ask(cli.url)).toMatchObject({ text: "A rose." });
    expect(model.questions[0]?.body.messages[0]).toEqual({
      role: "system",
      content: "You are a poet.",
    });
    expect(cli.out + cli.err).not.toContain(env.MODEL_KEY);
  });

  test("shows all faults of the file with their lines, and does not serve it", async () => {
    const cwd = scratch();
    const broken = agent()
      .replace("name: helper", "nme: helper")
      .replace("openai-compatible", "opnai")
      .replace("3000", "-1");
    write(cwd, { "agent.yaml": broken });
    const { code, out, err } = await runCli(["serve", "agent.yaml", "--no-playground"], { cwd });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    const places = [...err.matchAll(/agent\.yaml:(\d+):\d+/g)].map(([, line]) => Number(line));
    expect([...new Set(places)]).toEqual([1, 3, 14]);
    expect(err).toContain("did you mean openai?");
    expect(err).not.toMatch(/^ +at /m);
  });

  test("does not serve it when one of its MCP servers cannot be used", async () => {
    const cwd = scratch();
    write(cwd, { "agent.yaml": agent().replace(process.execPath, "no-such-program-here") });
    const args = ["serve", "agent.yaml", "--no-playground", "--port", "0"];
    const { code, out, err } = await runCli(args, { cwd, env });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain('The MCP server "notes" (no-such-program-here) cannot be used');
  });
});
