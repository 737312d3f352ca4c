import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCli, scratch } from "./_cli.ts";
import { typeTo } from "./_run-main.ts";
import type { MainResult } from "./_run-main.ts";
import { write } from "./_serve.ts";

function toServe(files: Readonly<Record<string, string>>): [args: string[], { cwd: string }] {
  const cwd = scratch();
  write(cwd, files);
  return [["serve", Object.keys(files)[0]!, "--port", "0", "--no-playground"], { cwd }];
}

function serve(files: Readonly<Record<string, string>>): Promise<MainResult> {
  const [args, options] = toServe(files);
  return typeTo(args, [], options);
}

describe("a broken agent file", () => {
  test("that cannot be parsed is shown with file, line and column, and is not served", async () => {
    const { code, out, err } = await runCli(
      ...toServe({
        "agent.ts": `interface Words {\n  a: string;\n}\n\nexport default async function* () {\n  yield "a" +;\n}\n`,
      }),
    );
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toBe(
      `agent.ts:6:14: SyntaxError: Unexpected token\n\n  6 |   yield "a" +;\n                   ^\n`,
    );
  });

  test("that throws while it is imported is shown where it throws, a sibling's line included", async () => {
    const { code, out, err } = await serve({
      "agent.ts": `import { word } from "./lib/word.ts";\nexport default async () => word;\n`,
      "lib/word.ts": `type Word = string;\n\nfunction find(name: string): Word {\n  if (name) throw new TypeError("no such word");\n  return name;\n}\nexport const word: Word = find("x");\n`,
    });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toBe(
      `${join("lib", "word.ts")}:4:19: TypeError: no such word\n\n` +
        `  4 |   if (name) throw new TypeError("no such word");\n                        ^\n`,
    );
  });

  test.for([
    ["no agent", `export const other = 1;\n`, "agent.ts:1:1: It exports no agent; export one"],
    ["a number", `type A = 1;\n\nexport default 42;\n`, "agent.ts:3:1: "],
    [
      "a bad map",
      `const b = "b";\nexport const agent = { a: async () => "a", b };\n`,
      'agent.ts:2:1: Agent "b"',
    ],
    [
      "wrong options",
      `export default async () => "a";\nexport const options = { limits: { bodyByte: 1 } };\n`,
      "agent.ts:2:1: limits.bodyByte",
    ],
    [
      "a package that is not there",
      `// A comment.\nimport { x } from "no-such-package";\nexport default x;\n`,
      "agent.ts:2:1: Cannot find module 'no-such-package'",
    ],
  ] as const)("with %s is shown with its line", async ([, source, message]) => {
    const { code, out, err } = await serve({ "agent.ts": source });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(message);
    const line = Number(/^agent\.ts:(\d+)/.exec(err)?.[1]);
    expect(err).toContain(`\n  ${line} | ${source.split("\n")[line - 1]}\n`);
    expect(err).not.toMatch(/^ +at /m);
  });

  test("has the whole stack with --debug, and is not waited for with --watch", async () => {
    const files = {
      "agent.mjs": `import "./word.mjs";\nthrow new Error("oh no");\n`,
      "word.mjs": "export {};\n",
    };
    const [args, options] = toServe(files);
    const { code, err } = await runCli([...args, "--debug", "--watch"], options);
    expect(code).toBe(1);
    expect(err).toMatch(/^agent\.mjs:2:7: oh no\n/);
    expect(err).toMatch(/^ +at .*agent\.mjs:2/m);
  });

  test("that is not there is reported as missing", async () => {
    const { code, err } = await typeTo(["serve", "nowhere.ts"], [], { cwd: scratch() });
    expect({ code, err }).toEqual({ code: 1, err: "nowhere.ts: There is no such file.\n" });
  });
});

describe("an agent that is not ready", () => {
  test("is not served, and the reason is printed", async () => {
    const { code, out, err } = await serve({
      "agent.ts": `export default { run: async () => "a", async ready() { throw new Error("the model is away."); } };\n`,
    });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("Agent 'default' is not ready. the model is away.");
  });
});
