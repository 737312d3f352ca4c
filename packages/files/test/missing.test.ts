import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeDocx, makePdf, makePptx, makeXlsx } from "./_make.ts";
import { drawText } from "./_png.ts";
import { base64, types } from "./_serve.ts";
import type { Sent } from "./_serve.ts";

interface Answer {
  readonly status: number;
  readonly body: { readonly code?: string; readonly detail?: string; readonly content?: string };
  readonly logged: readonly string[];
}

const files: readonly Sent[] = [
  { name: "a.pdf", mimeType: types.pdf, bytes: await makePdf("x") },
  { name: "a.docx", mimeType: types.docx, bytes: makeDocx({ text: "x" }) },
  { name: "a.xlsx", mimeType: types.xlsx, bytes: makeXlsx({ One: [["x"]] }) },
  { name: "a.png", mimeType: types.png, bytes: drawText("MOON") },
  { name: "a.pptx", mimeType: types.pptx, bytes: makePptx([{ title: "x", lines: [] }]) },
];

let folder = "";
let answers: readonly Answer[] = [];

// A project that has installed the package, and none of its optional peers.
beforeAll(async () => {
  const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
  folder = await mkdtemp(join(tmpdir(), "missing-test-"));
  await cp(here("../src"), join(folder, "src"), { recursive: true });
  await cp(here("_missing-child.ts"), join(folder, "child.ts"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await mkdir(join(folder, "node_modules", "@holodeck"), { recursive: true });
  for (const name of ["@holodeck/agui", "@holodeck/agui-core"]) {
    await symlink(here(`../node_modules/${name}`), join(folder, "node_modules", name));
  }
  const sent = files.map(({ name, mimeType, bytes }) => ({
    content: base64(bytes),
    mime_type: mimeType,
    filename: name,
  }));
  await writeFile(join(folder, "sent.json"), JSON.stringify(sent));
  const source = pathToFileURL(join(folder, "src", "index.ts")).href;
  const flags = ["--conditions=@holodeck/source", "--import=tsx"];
  // The loader of our sources is found from here, the readers from the folder.
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...flags, join(folder, "child.ts"), source, join(folder, "sent.json")],
    { cwd: here("../../..") },
  );
  answers = JSON.parse(stdout) as Answer[];
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

test.for([
  ["a.pdf", "unpdf"],
  ["a.png", "tesseract.js"],
] as const)("a reader of %s that is not installed is named in the log", ([name, missing]) => {
  const { status, body, logged } = answers[files.findIndex((file) => file.name === name)]!;
  expect(logged).toContain(
    `Reading "${name}" requires the package ${missing}, which is not installed: npm install ${missing}.`,
  );
  // What a server has installed is no business of its clients.
  expect([status, body.code]).toEqual([500, "internal"]);
  expect(JSON.stringify(body)).not.toContain(missing);
});

test("what needs no reader is read all the same", () => {
  for (const name of ["a.docx", "a.xlsx", "a.pptx"]) {
    const answer = answers[files.findIndex((file) => file.name === name)];
    expect(answer).toMatchObject({ status: 200, body: { content: "done" } });
  }
});
