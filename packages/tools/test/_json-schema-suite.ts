// JSON Schema's official test suite for draft 2020-12.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { findService } from "../../../scripts/test-support/services.ts";

export interface Group {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly { description: string; data: unknown; valid: boolean }[];
}

/** The groups of each file, by its name within the draft's folder. Empty when there is no suite; that is reported. */
export function readSuite(): [file: string, groups: readonly Group[]][] {
  const folder = findService("jsonSchemaSuite", "the test suite of JSON Schema");
  return folder === undefined ? [] : readGroups(folder);
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
