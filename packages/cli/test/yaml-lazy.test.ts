import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { folder } from "./yaml/_served.ts";

// Tells every package that is imported, in its order.
const hook = `
import { writeSync } from "node:fs";
export async function resolve(specifier, context, next) {
  if (/^[@a-z]/.test(specifier) && !/^(?:file|data|node):/.test(specifier)) writeSync(1, specifier + "\\n");
  return next(specifier, context);
}`;
const register = `
import { register } from "node:module";
register("data:text/javascript,${encodeURIComponent(hook)}");`;

const heavy = /^(?:yaml|zod|ai|jiti|redis|pg|@ai-sdk\/.*|@modelcontextprotocol\/.*)$/;

test("nothing is loaded before it is needed, and of models only the one that is named", async () => {
  const file = join(
    await folder({ "agent.yaml": "name: a\nmodel: { provider: demo }\ninstructions: hi\n" }),
    "agent.yaml",
  );
  const index = new URL("../src/index.ts", import.meta.url).href;
  const script = `
    const { loadYamlAgent } = await import(${JSON.stringify(index)});
    console.log("--");
    const { agent } = await loadYamlAgent(${JSON.stringify(file)}, {});
    console.log("--");
    await agent.a.agent.ready();
  `;
  const child = spawn(
    process.execPath,
    [
      "--conditions=@holodeck/source",
      `--import=${import.meta.resolve("tsx")}`,
      `--import=data:text/javascript,${encodeURIComponent(register)}`,
      "--input-type=module",
      "--eval",
      script,
    ],
    { cwd: fileURLToPath(new URL("..", import.meta.url)), stdio: ["ignore", "pipe", "inherit"] },
  );
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  const [code] = (await once(child, "close")) as [number];
  expect(code).toBe(0);
  const [imported, loaded, ready] = out
    .split("--\n")
    .map((part) => part.split("\n").filter((name) => heavy.test(name)));
  expect(imported).toEqual([]);
  expect([...new Set(loaded)].toSorted()).toEqual(["yaml", "zod"]);
  expect(ready).toContain("ai");
  expect(
    ready!.filter((name) => /^@ai-sdk\/(?:openai|anthropic|azure)|^@model/.test(name)),
  ).toEqual([]);
});
