/**
 * JSON Schema's official test suite for draft 2020-12. No npm package has that draft; a Debian package does. It is
 * downloaded and unpacked into a temporary folder, without installing it, so that no rights are needed.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reportMissing } from "../../../scripts/test-support/missing.ts";

export interface Group {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly { description: string; data: unknown; valid: boolean }[];
}

const packageName = "libtest-json-schema-acceptance-perl";
const inPackage = "usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance/tests/draft2020-12";

/**
 * The groups of each file, by its name within the draft's folder: that of the variable JSON_SCHEMA_TEST_SUITE,
 * the one of the installed package, or of one that is downloaded. Empty when there is none; then it is reported.
 */
export function readSuite(): [file: string, groups: readonly Group[]][] {
  const { JSON_SCHEMA_TEST_SUITE: given } = process.env;
  if (given) return readGroups(given);
  const installed = join("/", inPackage);
  if (existsSync(installed)) return readGroups(installed);
  const folder = mkdtempSync(join(tmpdir(), "json-schema-suite-"));
  try {
    if (download(folder)) return readGroups(join(folder, inPackage));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const missing = `${packageName}: apt-get install ${packageName}, or the folder tests/draft2020-12 of JSON-Schema-Test-Suite in JSON_SCHEMA_TEST_SUITE`;
  reportMissing("the test suite of JSON Schema", missing);
  return [];
}

// Formats decide nothing here, so what is in `optional/format` does not apply.
function readGroups(folder: string): [string, readonly Group[]][] {
  const names = ["", "optional/"].flatMap((base) =>
    readdirSync(join(folder, base))
      .filter((name) => name.endsWith(".json"))
      .map((name) => `${base}${name}`),
  );
  return names
    .toSorted()
    .map((name) => [name, JSON.parse(readFileSync(join(folder, name), "utf8")) as Group[]]);
}

function download(folder: string): boolean {
  // The machine's lists of packages may be missing, old or locked: then lists in the folder are used.
  const lists = join(folder, "lists");
  mkdirSync(join(lists, "partial"), { recursive: true });
  const own = ["-o", `Dir::State::lists=${lists}`, "-o", `Dir::Cache=${join(folder, "cache")}`];
  const isThere =
    run(folder, "apt-get", ["download", packageName]) ||
    (run(folder, "apt-get", [...own, "update"]) &&
      run(folder, "apt-get", [...own, "download", packageName]));
  const archive = isThere && readdirSync(folder).find((name) => name.endsWith(".deb"));
  return archive ? run(folder, "dpkg-deb", ["-x", archive, "."]) : false;
}

function run(cwd: string, command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { cwd, timeout: 120_000 }).status === 0;
}
