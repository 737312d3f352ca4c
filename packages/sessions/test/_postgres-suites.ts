import { testRunLog, testSessionStore } from "@holodeck/agui-testing/vitest";
import type { CreateStore } from "@holodeck/agui-testing/vitest";
import { afterAll, describe } from "vitest";
import { postgresSessions } from "../src/postgres/index.ts";
import type { PostgresClient, PostgresSessionsOptions } from "../src/postgres/index.ts";
import type { TestPostgres } from "./_postgres.ts";

/** A server, and how to reach it. */
export interface PostgresUnderTest {
  readonly name: string;
  readonly server: TestPostgres;
  connect(): Promise<PostgresClient>;
  readonly options?: Partial<PostgresSessionsOptions>;
}

/** Both suites with one kind of client. Undefined: there is no PostgreSQL, and it was reported. */
export function testPostgresSessions(postgres: PostgresUnderTest | undefined): void {
  describe.runIf(postgres)("postgresSessions", () => {
    if (!postgres) return;
    const { name, server, connect } = postgres;
    afterAll(() => server.stop());
    let schema = "";
    // Two clients for all stores: a process has one.
    const clients = Promise.all([connect(), connect()]);
    // Late is not away: what is unavailable has other tests.
    const common = { commandMs: 20_000, ...postgres.options };
    const second: CreateStore = async (setup) =>
      postgresSessions({ client: (await clients)[1], schema, ...common, ...setup });
    const create: CreateStore = async (setup) => {
      schema = await server.schema();
      return postgresSessions({ client: (await clients)[0], schema, ...common, ...setup });
    };
    testSessionStore(name, create, { clock: "real", second });
    testRunLog(name, create, { clock: "real", second });
  });
}
