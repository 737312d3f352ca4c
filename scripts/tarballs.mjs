// Installs the packed front door and Node binding into an empty folder with npm, as a user would,
// and uses them from ESM, from CommonJS and from TypeScript.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./lib/process.mjs";
import { bin, publicPackages, readJson, root } from "./lib/workspace.mjs";
import { tarballOf } from "./lib/pack.mjs";

const wanted = ["@holodeck/agui", "@holodeck/agui-node"];
const maxPackages = 20;
// The oldest that reads our types without `skipLibCheck`; the README states it.
const oldestTypeScript = "5.7.3";
const folder = mkdtempSync(join(realpathSync(tmpdir()), "holodeck-tarballs-"));

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function main() {
  const closure = [...ownClosure()];
  const dependencies = Object.fromEntries(
    closure.map((manifest) => [manifest.name, `file:${tarballOf(manifest)}`]),
  );
  write("package.json", JSON.stringify({ name: "host", private: true, dependencies }));
  await must("npm install", [
    "npm",
    "install",
    "--no-audit",
    "--no-fund",
    "--omit=dev",
    "--omit=peer",
  ]);

  const lock = readJson(join(folder, "node_modules", ".package-lock.json"));
  const installed = Object.keys(lock.packages).map((path) => path.replace("node_modules/", ""));
  if (installed.length > maxPackages) {
    throw new Error(`${installed.length} packages, allowed ${maxPackages}: ${installed.join(" ")}`);
  }

  write("use.mjs", smoke("import"));
  await must("an ESM import", [process.execPath, "use.mjs"]);
  write("use.cjs", smoke("require"));
  await must("a CommonJS require()", [process.execPath, "--throw-deprecation", "use.cjs"]);

  // The host's own copy of Node's types; not counted above, since only TypeScript users have it.
  mkdirSync(join(folder, "node_modules", "@types"), { recursive: true });
  const types = realpathSync(join(root, "node_modules", "@types", "node"));
  symlinkSync(types, join(folder, "node_modules", "@types", "node"), "junction");
  await compile("nodenext", "mts", { module: "nodenext", moduleResolution: "nodenext" });
  await compile("node10", "ts", {
    module: "commonjs",
    moduleResolution: "node10",
    esModuleInterop: true,
  });
  const old = ["--prefix", "oldest", "--no-audit", "--no-fund", `typescript@${oldestTypeScript}`];
  await must(`npm install of TypeScript ${oldestTypeScript}`, ["npm", "install", ...old]);
  const oldest = [process.execPath, join(folder, "oldest/node_modules/typescript/bin/tsc")];
  const modern = { module: "nodenext", moduleResolution: "nodenext", typescript: oldest };
  await compile(`TypeScript ${oldestTypeScript}`, "mts", modern);
  await must("the compiled CommonJS host", [process.execPath, "node10/out/host.js"]);
  for (const file of ["llms.txt", "docs/README.md", "docs/hosts.md", "docs/operate/security.md"]) {
    if (existsSync(join(folder, "node_modules/@holodeck/agui", file))) continue;
    throw new Error(`${file} is not in the tarball of @holodeck/agui.`);
  }
  console.log(
    `${wanted.join(" + ")}: ${installed.length} packages; import, require, TypeScript work.`,
  );
}

// The two packages and those of ours that they need.
function ownClosure() {
  const all = new Map(publicPackages().map(({ manifest }) => [manifest.name, manifest]));
  const found = new Set();
  const visit = (name) => {
    const manifest = all.get(name);
    if (!manifest || found.has(manifest)) return;
    found.add(manifest);
    Object.keys(manifest.dependencies ?? {}).forEach(visit);
  };
  wanted.forEach(visit);
  return found;
}

function smoke(kind) {
  const load = (name, names) =>
    kind === "import"
      ? `import { ${names} } from "${name}";`
      : `const { ${names} } = require("${name}");`;
  return `${load("@holodeck/agui", "createAgentHandler")}
${load("@holodeck/agui-node", "serve")}
const handler = createAgentHandler(async function* () { yield "Hello "; yield "world"; });
const body = JSON.stringify({ messages: [{ role: "user", content: "hi" }] });
const headers = { "content-type": "application/json" };
async function main() {
  const server = await serve(handler, { port: 0, host: "127.0.0.1" });
  const response = await fetch(server.url + "/agui", { method: "POST", headers, body });
  const text = await response.text();
  await server.close();
  for (const needle of ["RUN_STARTED", "Hello ", "world", "RUN_FINISHED"]) {
    if (!text.includes(needle)) throw new Error(needle + " is missing in: " + response.status + " " + text);
  }
}
main().catch((error) => { console.error(error); process.exitCode = 1; });
`;
}

function host() {
  return `import { createAgentHandler } from "@holodeck/agui";
import type { AgentFunction } from "@holodeck/agui";
import { serve } from "@holodeck/agui-node";

const agent: AgentFunction = async function* (input, context) {
  const runId: string = context.runId;
  yield \`run \${runId} has \${input.messages.length} messages\`;
};
const handler = createAgentHandler(agent);
async function main(): Promise<void> {
  const server = await serve(handler, { port: 0, host: "127.0.0.1" });
  const port: number = server.port;
  if (port === 0) throw new Error("no port");
  await server.close();
}
main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
`;
}

async function compile(name, extension, { typescript = bin("typescript", "bin/tsc"), ...options }) {
  const dir = join(folder, name);
  mkdirSync(dir);
  writeFileSync(join(dir, `host.${extension}`), host());
  const compilerOptions = {
    target: "es2022",
    lib: ["es2023", "dom", "dom.iterable"],
    types: ["node"],
    strict: true,
    skipLibCheck: false,
    outDir: "out",
    ...options,
  };
  writeFileSync(
    join(dir, "tsconfig.json"),
    JSON.stringify({ compilerOptions, files: [`host.${extension}`] }),
  );
  const tsc = [...typescript, "-p", dir, "--pretty", "false"];
  await must(`TypeScript with ${name}`, tsc);
}

function write(name, text) {
  writeFileSync(join(folder, name), text);
}

async function must(what, command) {
  const { code, output } = await run(command, { cwd: folder });
  if (code !== 0) throw new Error(`${what} failed.\n${output}`);
}
