import { build } from "esbuild";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cache } from "./peers.ts";

const shared = {
  bundle: true,
  format: "esm",
  target: "es2022",
  logLevel: "warning",
  legalComments: "none",
  define: { "process.env.NODE_ENV": '"production"' },
} as const;
const app = fileURLToPath(new URL("../app/", import.meta.url));

/** Bundles a server with the app and its framework into one module, for workerd. */
export async function bundleWorker(server: string): Promise<string> {
  const outfile = `${basename(server, ".mjs")}.worker.mjs`;
  await build({
    ...shared,
    entryPoints: [server],
    outfile: join(cache, outfile),
    platform: "browser",
    conditions: ["workerd", "worker", "import"],
  });
  return outfile;
}

/** Bundles the app: for hosts on Node with the bindings, and for others as esbuild makes it for workerd. */
export async function bundleApp(): Promise<void> {
  await build({
    ...shared,
    entryPoints: [join(app, "node.ts")],
    outfile: join(cache, "app.node.mjs"),
    platform: "node",
    conditions: ["@holodeck/source"],
    // What packages made as CommonJS expect of Node.
    banner: {
      js: 'import { createRequire } from "node:module";const require = createRequire(import.meta.url);',
    },
  });
  for (const name of ["edge", "slim"]) {
    await build({
      ...shared,
      entryPoints: [join(app, `${name}.ts`)],
      outfile: join(cache, `app.${name}.mjs`),
      platform: "browser",
      conditions: ["@holodeck/source", "workerd", "worker", "import"],
    });
  }
}
