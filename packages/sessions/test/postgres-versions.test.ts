import { expect, test } from "vitest";
import { effort } from "../../../scripts/test-support/effort.ts";
import { findService } from "../../../scripts/test-support/services.ts";
import { startPostgres } from "./_postgres.ts";
import type { TestPostgres } from "./_postgres.ts";
import { testPostgresSessions } from "./_postgres-suites.ts";

// The other files use one version; these are the oldest and the newest, each with another client.
const isFull = effort(1, 0) === 1;

async function start(
  service: "postgresOldest" | "postgresNewest",
): Promise<TestPostgres | undefined> {
  const suite = `${service}: testSessionStore and testRunLog`;
  const programs = isFull ? findService(service, suite) : undefined;
  return programs === undefined ? undefined : startPostgres(suite, { programs });
}

const oldest = await start("postgresOldest");
const newest = await start("postgresNewest");

test.skipIf(isFull)("the oldest and the newest PostgreSQL are for TEST_EFFORT=full", () => {
  expect([oldest, newest]).toEqual([undefined, undefined]);
});

test.runIf(oldest && newest)("the servers have the versions that are promised", async () => {
  const major = async (server: TestPostgres): Promise<number> => {
    const text = "SELECT current_setting('server_version_num')::int / 10000 AS major";
    const [row] = (await server.sql(text)) as [{ major: number }];
    return row.major;
  };
  expect(await major(oldest!)).toBe(14);
  expect(await major(newest!)).toBeGreaterThanOrEqual(18);
});

if (isFull) {
  testPostgresSessions(
    "postgresSessions on the oldest PostgreSQL, with pg",
    oldest && { server: oldest, connect: () => oldest.pg({ max: 20 }) },
  );
  testPostgresSessions(
    "postgresSessions on the newest PostgreSQL, with postgres.js",
    newest && { server: newest, connect: () => newest.postgresJs({ max: 20 }) },
  );
}
