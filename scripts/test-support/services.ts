// What tests use when this machine has it: servers, a browser, files of others. Nothing is installed here;
// `npm run setup:services` does that, and CI calls it.
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { buildPage, findPage } from "./copilotkit-page.ts";
import { fetchEmbedded, findEmbedded } from "./embedded-postgres.ts";

interface Service {
  /** What it is called in the line about suites that were not run. */
  readonly title: string;
  /** Names a path that is used instead of looking for one. */
  readonly variable: string;
  /** The Debian package that has it. */
  readonly debian?: string;
  /** Gets it where no package has it. */
  prepare?(): Promise<void>;
  /** The path of it. Returns undefined when it is not there. */
  find(): string | undefined;
}

const schemaSuite =
  "usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance/tests/draft2020-12";

export type ServiceName =
  | "redis"
  | "openssl"
  | "postgres"
  | "postgresOldest"
  | "postgresNewest"
  | "pgbouncer"
  | "chromium"
  | "jsonSchemaSuite"
  | "copilotkitPage"
  | "curl";

/** A new service is one entry here; a suite asks for it by its name with `findService`. */
export const services: Readonly<Record<ServiceName, Service>> = {
  /** The program `redis-server`; `REDIS_SERVER` may name a `valkey-server`. */
  redis: {
    title: "redis-server",
    variable: "REDIS_SERVER",
    debian: "redis-server",
    find: () => which("redis-server"),
  },
  /** The program `openssl`, for certificates. */
  openssl: {
    title: "openssl",
    variable: "OPENSSL",
    debian: "openssl",
    find: () => which("openssl"),
  },
  /** A folder with PostgreSQL's programs `initdb` and `postgres`, of the newest version. */
  postgres: {
    title: "PostgreSQL",
    variable: "POSTGRES_BIN",
    debian: "postgresql",
    find: findPostgres,
  },
  /** The same of the oldest version that is supported. */
  postgresOldest: {
    title: "PostgreSQL 14",
    variable: "POSTGRES_OLDEST_BIN",
    prepare: () => fetchEmbedded("oldest"),
    find: () => findEmbedded("oldest"),
  },
  /** The same of the newest version that can be had. */
  postgresNewest: {
    title: "PostgreSQL 18",
    variable: "POSTGRES_NEWEST_BIN",
    prepare: () => fetchEmbedded("newest"),
    find: () => findEmbedded("newest"),
  },
  /** The program `pgbouncer`. */
  pgbouncer: {
    title: "PgBouncer",
    variable: "PGBOUNCER",
    debian: "pgbouncer",
    find: () => which("pgbouncer") ?? existing("/usr/sbin/pgbouncer"),
  },
  chromium: {
    title: "Chromium",
    variable: "CHROMIUM",
    debian: "chromium",
    find: () => ["chromium", "chromium-browser", "google-chrome"].map(which).find(Boolean),
  },
  /** The folder `tests/draft2020-12` of JSON Schema's test suite; no npm package has that draft. */
  jsonSchemaSuite: {
    title: "JSON Schema's test suite",
    variable: "JSON_SCHEMA_TEST_SUITE",
    debian: "libtest-json-schema-acceptance-perl",
    find: () => existing(join("/", schemaSuite)),
  },
  /** The folder of a bundled page with CopilotKit's components. */
  copilotkitPage: {
    title: "the page of packages/copilotkit/test/page",
    variable: "COPILOTKIT_PAGE",
    prepare: buildPage,
    find: findPage,
  },
  /** The program `curl`. */
  curl: {
    title: "curl",
    variable: "CURL",
    debian: "curl",
    find: () => which("curl"),
  },
};

/** Where a service is: the path in its variable, or one that was found. Returns undefined when there is none. */
export function locate(name: ServiceName): string | undefined {
  const { variable, find } = services[name];
  const given = process.env[variable];
  return given ? (existing(given) ?? which(given)) : find();
}

/**
 * The path of a service that a suite needs. Returns undefined when there is none: the caller skips its tests, and
 * `npm test` prints at its end what was not run and what it needs. Throws with `CI=true`.
 */
export function findService(name: ServiceName, suite: string): string | undefined {
  const found = locate(name);
  if (found === undefined) reportMissing(suite, services[name].title);
  return found;
}

// As root, as in most containers, it does not start within its sandbox.
export const chromiumFlags: readonly string[] = ["--no-sandbox"];

/** How to get what is missing. */
export const remedy = "npm run setup:services";

function reportMissing(suite: string, missing: string): void {
  const line = `NOT RUN: ${suite}. It needs ${missing}: ${remedy}.`;
  if (process.env.CI === "true") throw new Error(line);
  process.stderr.write(`${line}\n`);
  const { NOT_RUN_FILE } = process.env;
  if (!NOT_RUN_FILE) return;
  const record = { file: testFile(), suite, missing };
  appendFileSync(NOT_RUN_FILE, `${JSON.stringify(record)}\n`);
}

/** The file whose tests are skipped: vitest has it where a test file or a setup file runs. */
function testFile(): string | undefined {
  const scope = globalThis as { __vitest_worker__?: { filepath?: string } };
  return scope.__vitest_worker__?.filepath;
}

function findPostgres(): string | undefined {
  const versions = "/usr/lib/postgresql";
  const debian = existsSync(versions)
    ? readdirSync(versions)
        .toSorted((one, other) => Number(other) - Number(one))
        .map((version) => join(versions, version, "bin"))
    : [];
  const onPath = (process.env.PATH ?? "").split(":").filter(Boolean);
  return [...debian, ...onPath].find(
    (folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")),
  );
}

function existing(path: string): string | undefined {
  return existsSync(path) ? path : undefined;
}

function which(name: string): string | undefined {
  return spawnSync("which", [name], { encoding: "utf8" }).stdout?.trim() || undefined;
}
