import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { runCli, scratch } from "./_cli.ts";
import { runMain, typeTo } from "./_run-main.ts";

let folder: string;
beforeEach(() => {
  folder = scratch();
});

const files = [
  ".gitignore",
  "README.md",
  "agent.ts",
  "package.json",
  "server.ts",
  "test/agent.test.ts",
  "tsconfig.json",
];

async function readAll(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .sort();
}

describe("holodeck init", () => {
  test.for(["express", "hono"])("writes a project around %s", async (template) => {
    const target = join(folder, "My Agent");
    const { code, out, err } = await runMain("init", target, "--template", template, "--yes");
    expect(err).toBe("");
    expect(code).toBe(0);
    expect(await readAll(target)).toEqual([...files].sort());
    for (const file of files) expect(out).toContain(`  ${file}\n`);
    const manifest = JSON.parse(await readFile(join(target, "package.json"), "utf8"));
    const own = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
    expect(manifest.name).toBe("my-agent");
    expect(manifest.dependencies).toHaveProperty([`@holodeck/agui-${template}`], `^${own.version}`);
    expect(await readFile(join(target, "server.ts"), "utf8")).toContain(
      `@holodeck/agui-${template}`,
    );
    for (const file of files) {
      expect(await readFile(join(target, file), "utf8")).not.toContain("{{");
    }
  });

  test("takes the current folder, and prints what comes next", async () => {
    const { code, out } = await runCli(["init"], { cwd: folder });
    expect(code).toBe(0);
    expect(out).toMatch(/Next:\n\n {2}npm install\n {2}npm test\n {2}npm start\n$/);
    expect(await readAll(folder)).toEqual([...files].sort());
  });

  test("refuses a folder with something in it, names it, and writes nothing", async () => {
    await writeFile(join(folder, "notes.txt"), "mine");
    await mkdir(join(folder, "src"));
    const { code, err } = await runMain("init", folder);
    expect(err).toBe(`${folder} is not empty. Existing files: notes.txt, src.\n`);
    expect(code).toBe(2);
    expect(await readAll(folder)).toEqual(["notes.txt"]);
  });

  test("takes a repository without files", async () => {
    await mkdir(join(folder, ".git"));
    expect(await typeTo(["init", "."], [], { cwd: folder })).toMatchObject({ code: 0, err: "" });
    expect(await readAll(folder)).toEqual([...files].sort());
  });

  test.for<[args: string[], says: RegExp]>([
    [["--template", "koa"], /Unknown template "koa"\. Choose --template express\|hono\./],
    [["a", "b"], /One folder, not 2\./],
    [["--force"], /--force[^]*Usage: holodeck init/],
  ])("%j is answered with a sentence and exit code 2", async ([args, says]) => {
    const { code, err } = await typeTo(["init", ...args], [], { cwd: folder });
    expect(err).toMatch(says);
    expect(code).toBe(2);
    expect(await readAll(folder)).toEqual([]);
  });
});
