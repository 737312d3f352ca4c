// `holodeck init` as a user has it: both projects are written by the packed command, installed from the
// tarballs with npm, tested, started, and talked to with their own `holodeck chat`.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { childEnv, run } from "./lib/process.mjs";
import { publicPackages, readJson } from "./lib/workspace.mjs";
import { tarballOf } from "./lib/pack.mjs";

const folder = mkdtempSync(join(realpathSync(tmpdir()), "holodeck-init-"));
const tarballs = new Map(
  publicPackages().map(({ manifest }) => [manifest.name, { manifest, file: tarballOf(manifest) }]),
);

try {
  if (![...tarballs.values()].every(({ file }) => existsSync(file))) {
    throw new Error("Nothing is packed yet. Run `npm run check -- init`, which packs first.");
  }
  const holodeck = await unpackCommand();
  for (const template of ["express", "hono"]) await prove(template, holodeck);
  console.log("The projects of both templates install, pass their test, start and answer chat.");
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

// `init` needs none of the command's dependencies, so the unpacked tarball does.
async function unpackCommand() {
  const { file } = tarballs.get("@holodeck/agui-cli");
  await must(folder, ["tar", "-xzf", file]);
  return join(folder, "package", "dist", "bin.js");
}

async function prove(template, holodeck) {
  const dir = join(folder, `my-${template}`);
  await must(folder, [process.execPath, holodeck, "init", dir, "--template", template, "--yes"]);
  const manifest = readJson(join(dir, "package.json"));
  const { dependencies, devDependencies } = manifest;
  const wanted = Object.keys({ ...dependencies, ...devDependencies });
  // Nothing of ours is in a registry yet: what the project asks for comes from the tarballs.
  const local = own(...wanted.filter((name) => tarballs.has(name)));
  for (const name of Object.keys(local)) delete devDependencies[name];
  const changed = { ...manifest, dependencies: { ...dependencies, ...local }, devDependencies };
  writeFileSync(join(dir, "package.json"), JSON.stringify(changed, null, 2));
  await install(dir);
  await must(dir, ["npm", "test"]);
  await must(dir, ["npm", "run", "typecheck"]);
  await talk(dir);
}

async function talk(dir) {
  const env = childEnv({ PORT: "0" });
  // npm and its shell stand before the server; as a group they end together.
  const child = spawn("npm", ["start"], { cwd: dir, env, detached: true });
  let output = "";
  try {
    const url = await new Promise((resolve, reject) => {
      const look = (chunk) => {
        output += chunk;
        const [found] = /http:\/\/\S+\/agui/.exec(output) ?? [];
        if (found) resolve(found);
      };
      child.stdout.on("data", look);
      child.stderr.on("data", look);
      child.on("error", reject);
      child.on("close", () => reject(new Error(`npm start ended.\n${output}`)));
      setTimeout(() => reject(new Error(`npm start printed no URL.\n${output}`)), 180_000).unref();
    });
    const answer = await must(dir, ["npx", "--no", "holodeck", "chat", url, "Hello there"]);
    if (!answer.includes("You said: Hello there")) throw new Error(`chat showed: ${answer}`);
  } finally {
    const ended = new Promise((resolve) => {
      child.on("close", resolve);
    });
    if (child.exitCode === null && child.pid !== undefined) {
      process.kill(-child.pid, "SIGTERM");
      await ended;
    }
  }
}

// The packages and those of ours that they need, each as its tarball.
function own(...names) {
  const found = {};
  const visit = (name) => {
    const packed = tarballs.get(name);
    if (!packed || name in found) return;
    found[name] = `file:${packed.file}`;
    Object.keys(packed.manifest.dependencies ?? {}).forEach(visit);
  };
  names.forEach(visit);
  return found;
}

function install(dir) {
  return must(dir, ["npm", "install", "--no-audit", "--no-fund", "--prefer-offline"]);
}

async function must(cwd, command) {
  const { code, output } = await run(command, { cwd });
  if (code !== 0) throw new Error(`${command.join(" ")} failed.\n${output}`);
  return output;
}
