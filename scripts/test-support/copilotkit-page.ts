// The page with CopilotKit's components that `packages/copilotkit/test/page.test.ts` opens. React and the components
// are half a gigabyte: `npm run setup:services` installs and bundles them, once.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const inRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const source = inRoot("packages/copilotkit/test/page/");
const cache = inRoot("node_modules/.cache/copilotkit-page/");
const bundle = join(cache, "dist");
const stamp = join(cache, "built");
const files = ["package.json", "package-lock.json", "page.jsx"];

/** The folder of the bundle. Returns undefined when it was not built from the sources as they are. */
export function findPage(): string | undefined {
  return existsSync(stamp) && readFileSync(stamp, "utf8") === digest() ? bundle : undefined;
}

/** Installs what the page imports, and bundles it. */
export async function buildPage(): Promise<void> {
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  for (const file of files) cpSync(join(source, file), join(cache, file));
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  const npm = spawn("npm", ["ci", ...flags], {
    cwd: cache,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = (await once(npm, "exit")) as [number | null];
  if (code !== 0) throw new Error("npm could not install the packages of the page.");
  const { resolve } = createRequire(inRoot("packages/copilotkit/package.json"));
  const { build } = (await import(pathToFileURL(resolve("esbuild")).href)) as Esbuild;
  await build({
    entryPoints: [join(cache, "page.jsx")],
    outdir: bundle,
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    loader: { ".woff": "empty", ".woff2": "empty", ".ttf": "empty" },
    logLevel: "error",
  });
  writeFileSync(stamp, digest());
}

/** As much of esbuild as is used here; the workspace's root does not depend on it. */
interface Esbuild {
  build(options: Readonly<Record<string, unknown>>): Promise<unknown>;
}

function digest(): string {
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(join(source, file)));
  return hash.digest("hex");
}
