import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makePdf } from "./_make.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
let folder = "";

// An application in one file, with the package installed beside it.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bundled-test-"));
  const installed = join(folder, "node_modules/@holodeck/agui-files");
  await mkdir(join(installed, "dist"), { recursive: true });
  await cp(here("../package.json"), join(installed, "package.json"));
  await symlink(here("../node_modules/unpdf"), join(folder, "node_modules/unpdf"));
  const options = {
    bundle: true,
    platform: "node" as const,
    conditions: ["@holodeck/source"],
    external: ["unpdf", "tesseract.js"],
    logLevel: "silent" as const,
  };
  await build({
    ...options,
    entryPoints: [here("../src/extract/worker.ts")],
    format: "esm",
    outfile: join(installed, "dist/holodeck-file-reader.js"),
  });
  await writeFile(join(folder, "a.pdf"), await makePdf("Read by a bundle"));
  const main = `
    import { createFileReader } from ${JSON.stringify(here("../src/extract/file-reader.ts"))};
    const reader = createFileReader({ timeoutMs: 300_000, memoryBytes: 1 << 29, workers: 1, queue: 1 });
    const job = { kind: "pdf", from: "a.pdf", maxChars: 100, inflatedBytes: 1e6, ocr: { language: "eng" } };
    reader.extract("a.pdf", job, { owner: "ann" }).then(async (text) => {
      console.log(JSON.stringify({ text, processes: reader.countProcesses() }));
      await reader.close();
    });`;
  for (const format of ["esm", "cjs"] as const) {
    await build({
      ...options,
      stdin: { contents: main, resolveDir: here("..") },
      format,
      outfile: join(folder, format === "esm" ? "main.mjs" : "main.cjs"),
    });
  }
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

test.for(["main.mjs", "main.cjs"])(
  "a bundle reads files in another process: %s",
  { timeout: 300_000 },
  async (main) => {
    const { stdout } = await promisify(execFile)(process.execPath, [main], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual({ text: "Read by a bundle", processes: 1 });
  },
);
