// What an import costs: the packages that a fresh process loads.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));

// A resolve hook that writes every package, wherever in the graph it is asked for.
const hook = `
  import { writeSync } from "node:fs";
  export async function resolve(specifier, context, next) {
    const found = await next(specifier, context);
    const [, name] = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(found.url) ?? [];
    // Only the name: a pipe that is full takes no more.
    if (name) writeSync(1, name + "\\n");
    return found;
  }`;
const register = `
  import { register } from "node:module";
  register("data:text/javascript," + encodeURIComponent(${JSON.stringify(hook)}));`;

const between = "--";

/**
 * Runs the steps of one module in a fresh process, and returns the packages that each of them has loaded, sorted. A
 * step that needs a package again loads nothing.
 */
export async function packagesLoaded(...steps: readonly string[]): Promise<string[][]> {
  const mark = `(await import("node:fs")).writeSync(1, "${between}\\n");\n`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      "--conditions=@holodeck/source",
      "--import=tsx",
      `--import=data:text/javascript,${encodeURIComponent(register)}`,
      "--input-type=module",
      `--eval=${steps.join(`\n${mark}`)}`,
    ],
    { cwd: root },
  );
  const known = new Set<string>();
  return stdout.split(`${between}\n`).map((part) => {
    const names = new Set(part.split("\n").filter((name) => name !== "" && !known.has(name)));
    for (const name of names) known.add(name);
    return [...names].toSorted();
  });
}
