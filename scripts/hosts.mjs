// `npm run test:hosts [-- names]`: installs if needed, and checks hosts from sources.
import { install, requireNode } from "./lib/install.mjs";
import { runHere } from "./lib/process.mjs";

requireNode();
await install();
const sources = ["--conditions=@holodeck/source", "--import=tsx"];
const args = process.argv.slice(2);
process.exit(await runHere([process.execPath, ...sources, "hosts/main.ts", ...args]));
