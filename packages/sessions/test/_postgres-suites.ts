import { testRunLog, testSessionStore } from "@holodeck/agui-testing/vitest";
import type { CreateStore, StoreSetup } from "@holodeck/agui-testing/vitest";
import { afterAll, describe } from "vitest";
import { postgresSessions } from "../src/postgres/index.ts";
import type { PostgresClient } from "../src/postgres/index.ts";
import type { TestPostgres } from "./_postgres.ts";

/** A server, and how to reach it. */
export interface PostgresUnderTest {
  readonly server: TestPostgres;
  connect(): Promise<PostgresClient>;
}

/** Both suites with one kind of client; skipped without a PostgreSQL. */
export function testPostgresSessions(name: string, postgres: PostgresUnderTest | undefined): void {
  describe.runIf(postgres)("postgresSessions", () => {
    afterAll(() => postgres?.server.stop());
    let schema = "";
    // Two clients for all stores: a process has one.
    const clients = postgres && Promise.all([postgres.connect(), postgres.connect()]);
    const make = async (index: 0 | 1, { through, callMs, ...setup }: StoreSetup) =>
      postgresSessions({
        client: faultyPostgres((await clients!)[index], through),
        schema,
        // Late is not away, except where calls have a time.
        commandMs: callMs ?? 20_000,
        ...setup,
      });
    const second: CreateStore = (setup) => make(1, setup);
    const create: CreateStore = async (setup) => {
      schema = await postgres!.server.schema();
      return make(0, setup);
    };
    testSessionStore(name, create, { clock: "real", second, faults: true });
    testRunLog(name, create, { clock: "real", second, faults: true });
  });
}

/** The client, with every query made through a function. */
function faultyPostgres(client: PostgresClient, through: StoreSetup["through"]): PostgresClient {
  if (!through) return client;
  if ("query" in client) {
    return {
      ...(client.options ? { options: client.options } : {}),
      connect: () => client.connect(),
      query: (text, values) => through(() => client.query(text, values)),
    };
  }
  return {
    options: client.options,
    listen: (...args) => client.listen(...args),
    unsafe: (...args) => through(() => client.unsafe(...args)),
  };
}
