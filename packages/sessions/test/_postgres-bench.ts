import type { SessionStore } from "@holodeck/agui-core";
import { afterEach } from "vitest";
import { postgresSessions } from "../src/postgres/index.ts";
import type { PostgresSessionsOptions } from "../src/postgres/index.ts";
import { startPostgres } from "./_postgres.ts";
import type { TestPostgres } from "./_postgres.ts";

// On a busy machine late is not away, and a process that does not come to its turn is not dead.
const patient = { commandMs: 60_000, leaseMs: 120_000 };

/** Servers and stores that are closed after each test, the last one first. */
export interface PostgresBench {
  startServer(flags?: readonly string[]): Promise<TestPostgres>;
  openStore(options: PostgresSessionsOptions): SessionStore;
  onEnd(close: () => unknown): void;
}

export function createPostgresBench(suite: string): PostgresBench {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close();
  });
  return {
    async startServer(flags = []) {
      const server = (await startPostgres(suite, { flags }))!;
      closers.push(() => server.stop());
      return server;
    },
    openStore(options) {
      const store = postgresSessions({ ...patient, ...options });
      closers.push(() => store.close());
      return store;
    },
    onEnd: (close) => void closers.push(close),
  };
}
