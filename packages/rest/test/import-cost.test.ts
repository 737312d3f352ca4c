import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

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

test("loads zod on the first call that needs it, and not before", async () => {
  const code = `
    const { rest } = await import(${JSON.stringify(entry)});
    const protocol = rest();
    protocol.routes({ limits: { messageChars: 1, files: 1 } });
    await new Promise((resolve) => process.stdout.write("WARM\\n", resolve));
    await protocol.warm();`;
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
  const [cold, warm] = stdout.split("WARM\n");
  expect(cold).not.toContain("/zod/");
  expect(warm).toContain("/zod/");
  expect(cold).toContain("/@ag-ui/core/");
});
