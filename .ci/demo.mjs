// `npm run demo [-- --port 8000]`: installs if needed and serves the demo agent from its sources.
import { install, requireNode, runHere } from "./lib.mjs";
import { buildPage } from "./page.mjs";

requireNode();
await install();
await buildPage();
process.exit(
  await runHere([
    process.execPath,
    "--conditions=@holodeck/source",
    "--import=tsx",
    "examples/demo/server.ts",
    ...process.argv.slice(2),
  ]),
);
