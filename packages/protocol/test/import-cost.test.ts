import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const entry = new URL("../src/index.ts", import.meta.url).href;

// A resolve hook that writes down every module, wherever in the graph it is asked for.
const hook = `
  import { writeSync } from "node:fs";
  export async function resolve(specifier, context, next) {
    const found = await next(specifier, context);
    // Short, wherever we are: a pipe that is full takes no more.
    const at = found.url.lastIndexOf("/node_modules/");
    if (at >= 0) writeSync(1, found.url.slice(at) + "\\n");
    return found;
  }`;
const register = `
  import { register } from "node:module";
  register("data:text/javascript," + encodeURIComponent(${JSON.stringify(hook)}));`;

/** The packages that a fresh process loads for `code`. */
async function packagesLoadedBy(code: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      "--conditions=@holodeck/source",
      "--import=tsx",
      `--import=data:text/javascript,${encodeURIComponent(register)}`,
      "--input-type=module",
      `--eval=${code}`,
    ],
    { cwd: root },
  );
  const names = stdout.matchAll(
    /\/node_modules\/((?:@[^/\n]+\/)?[^/\n]+)\/(?!.*\/node_modules\/)/g,
  );
  return [...new Set(Array.from(names, ([, name]) => name ?? ""))].sort();
}

const heavy = ["zod", "@ag-ui/encoder", "@ag-ui/proto"];

describe("importing the package", () => {
  test("loads neither zod nor the binary codec", async () => {
    const loaded = await packagesLoadedBy(`
      const { agui, aguiSseEncoder } = await import(${JSON.stringify(entry)});
      agui().routes({});
      aguiSseEncoder().encode({ from: 1, to: 1, at: 0, event: { type: "RAW", event: 1 } });`);
    expect(loaded).toContain("@ag-ui/core");
    for (const name of heavy) expect(loaded).not.toContain(name);
  });

  test("leaves zod to warm(), and the codec to the first that wants it", async () => {
    const warm = await packagesLoadedBy(`
      const { agui, decodeRunInput } = await import(${JSON.stringify(entry)});
      await agui().warm();
      await decodeRunInput({});`);
    expect(warm).toContain("zod");
    expect(warm).not.toContain("@ag-ui/proto");
    const binary = await packagesLoadedBy(`
      const { loadProtoEncoder } = await import(${JSON.stringify(entry)});
      await loadProtoEncoder();`);
    for (const name of heavy) expect(binary).toContain(name);
  });
});
