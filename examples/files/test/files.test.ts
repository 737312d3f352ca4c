import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { start } from "../server.ts";

const folder = new URL("..", import.meta.url);
let server: Awaited<ReturnType<typeof start>>;
let commands: readonly string[] = [];

beforeAll(async () => {
  server = await start(0);
  const readme = await readFile(new URL("README.md", folder), "utf8");
  const [, block = ""] = /```sh\n([^]*?)```/.exec(readme) ?? [];
  // What stands between two comments, or lines that begin with curl.
  commands = block
    .split(/\n(?=curl )/)
    .slice(1)
    .map((text) => text.split(/\n\n?#/)[0]!);
});
afterAll(() => server.close());

async function run(command: string, ...[from, to]: [string?, string?]): Promise<string> {
  const own = command.replaceAll("http://127.0.0.1:8000", server.url).replace(from ?? "", to ?? "");
  const { stdout } = await promisify(execFile)("bash", ["-c", own.replace("curl ", "curl -s ")], {
    cwd: folder,
  });
  return stdout;
}

describe("the commands of the README", () => {
  test("send a form with a PDF and a screenshot, and the agent repeats both", async () => {
    const { content } = JSON.parse(await run(commands[0]!)) as { content: string };
    expect(content).toContain("sample.pdf: application/pdf");
    expect(content).toContain(
      "What does it say?\n\n## File: sample.pdf\nA page for the example.\n## File: sample.png\nOTHER HOUSE",
    );
  });

  test("send a PDF as base64", async () => {
    const { content } = JSON.parse(await run(commands[1]!)) as { content: string };
    expect(content).toContain("## File: sample.pdf\nA page for the example.");
  });

  test("upload it once and refer to it", async () => {
    const stored = JSON.parse(await run(commands[2]!)) as { id: string; name: string };
    expect(stored).toMatchObject({ name: "sample.pdf", mimeType: "application/pdf" });
    const stream = await run(commands[3]!, "<the id>", stored.id);
    expect(stream).toContain("A page for the example.");
    expect(stream).toContain("RUN_FINISHED");
  });
});
