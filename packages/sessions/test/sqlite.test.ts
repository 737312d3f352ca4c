import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testRunLog, testSessionStore } from "@holodeck/agui-testing/vitest";
import { afterAll } from "vitest";
import { sqliteSessions } from "../src/sqlite/index.ts";

const folder = mkdtempSync(join(tmpdir(), "agui-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const path = (): string => join(folder, `${files}.db`);

const suites = [testSessionStore, testRunLog];
for (const suite of suites) {
  suite(
    "sqlite",
    (setup) => {
      files++;
      return sqliteSessions({ path: path(), ...setup });
    },
    { second: (setup) => sqliteSessions({ path: path(), ...setup }) },
  );
}
