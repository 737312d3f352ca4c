// `npm run setup:services [-- names]`: installs what tests use when it is there (`scripts/test-support/services.ts`).
// Asks nothing. Debian's packages need root, or sudo without a password.
import { spawnSync } from "node:child_process";
import { install, requireNode } from "./lib/install.mjs";
import { runHere, seconds } from "./lib/process.mjs";

requireNode();
await install();

// Only now: it needs what was installed.
const { tsImport } = await import("tsx/esm/api");
const { locate, services } = await tsImport("./test-support/services.ts", import.meta.url);

const wanted = choose(process.argv.slice(2));
const missing = () => wanted.filter((name) => locate(name) === undefined);

await installPackages(missing().flatMap((name) => services[name].debian ?? []));
for (const name of missing()) await prepare(services[name]);
for (const name of wanted) console.log(`${services[name].title}: ${locate(name) ?? "missing"}`);

if (missing().length > 0) {
  console.error(`Still missing: ${missing().map(advice).join("; ")}.`);
  process.exit(1);
}

function choose(names) {
  const unknown = names.filter((name) => !Object.hasOwn(services, name));
  if (unknown.length === 0) return names.length > 0 ? names : Object.keys(services);
  const known = Object.keys(services).join(", ");
  console.error(`No service ${unknown.join(", ")}. There are: ${known}.`);
  process.exit(1);
}

function advice(name) {
  const { title, variable } = services[name];
  return `${title} (install it by hand, or set ${variable} to its path)`;
}

async function installPackages(packages) {
  if (packages.length === 0) return;
  const list = packages.join(" ");
  const rights = findRights();
  if (rights === undefined) {
    console.error(
      `Needed: ${list}. This script installs Debian packages as root or with sudo only.`,
    );
    return;
  }
  console.log(
    `Installing ${list} with apt-get; the system may start what is a server. Tests start their own.`,
  );
  const started = Date.now();
  const apt = [...rights, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"];
  const wait = ["-o", "DPkg::Lock::Timeout=120"];
  await runHere([...apt, ...wait, "update"]);
  await runHere([...apt, ...wait, "install", "-y", "--no-install-recommends", ...packages]);
  console.log(`apt-get took ${seconds(started)}.`);
}

/** The words before `apt-get`. Returns undefined when there is none, or no right to use it. */
function findRights() {
  const works = (command, ...args) => spawnSync(command, args, { stdio: "ignore" }).status === 0;
  if (!works("apt-get", "--version")) return undefined;
  if (process.getuid?.() === 0) return [];
  return works("sudo", "-n", "true") ? ["sudo", "-n"] : undefined;
}

async function prepare({ title, prepare: build }) {
  if (!build) return;
  console.log(`Preparing ${title} ...`);
  const started = Date.now();
  try {
    await build();
    console.log(`It took ${seconds(started)}.`);
  } catch (error) {
    console.error(error.message);
  }
}
