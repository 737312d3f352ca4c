import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * The file that processes and threads for reading are started with. In a bundle of the host's it is not beside this one:
 * then it is that of the installed package.
 */
export function workerUrl(): URL {
  // Bundles in CommonJS have none.
  const here: string | undefined = import.meta.url;
  const from = here ?? pathToFileURL(join(process.cwd(), "package.json")).href;
  const isSource = from.endsWith(".ts");
  const beside = new URL(isSource ? "../worker.ts" : "./holodeck-file-reader.js", from);
  if (existsSync(beside)) return beside;
  const manifest = createRequire(from).resolve("@holodeck/agui-files/package.json");
  return new URL("dist/holodeck-file-reader.js", pathToFileURL(manifest));
}

/** Whether the sources are run as they are: not every Node reads TypeScript, so a loader goes first. */
export function isSource({ pathname }: URL): boolean {
  return pathname.endsWith(".ts");
}
