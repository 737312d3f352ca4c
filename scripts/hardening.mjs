// `npm run soak [-- --minutes 20]` and `npm run fuzz [-- --seconds 10 targets]`: installs if needed, and runs from sources.
import { install, requireNode } from "./lib/install.mjs";
import { runHere } from "./lib/process.mjs";

requireNode();
await install();
const [name, ...args] = process.argv.slice(2);
const sources = ["--conditions=@holodeck/source", "--import=tsx"];
process.exit(await runHere([process.execPath, ...sources, `hardening/${name}/main.ts`, ...args]));
