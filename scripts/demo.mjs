// `npm run demo [-- --port 8000]`: installs if needed and is `holodeck serve` from its sources, without a file: the demo agent.
import { install, requireNode } from "./lib/install.mjs";
import { runHere } from "./lib/process.mjs";
import { buildPage } from "./test-support/page.mjs";

requireNode();
await install();
await buildPage();
process.exit(
  await runHere([
    process.execPath,
    "--conditions=@holodeck/source",
    "--import=tsx",
    "packages/cli/src/bin.ts",
    "serve",
    ...process.argv.slice(2),
  ]),
);
