import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { findService } from "../../../scripts/test-support/services.ts";
import { postgresSessions } from "../src/postgres/index.ts";
import type { PostgresSessionsOptions } from "../src/postgres/index.ts";
import { asServer, clientKinds, startPostgres } from "./_postgres.ts";
import type { TestPostgres } from "./_postgres.ts";
import { onFreePort } from "./_redis.ts";
import { ending, follow, mark, offsets, open, until } from "./_redis-runs.ts";

const suite = "postgresSessions through PgBouncer in transaction mode";
const program = findService("pgbouncer", suite);
const server = program === undefined ? undefined : await startPostgres(suite);
const key = { principal: "ann", threadId: "t1", runId: "r1" };
const patient = { commandMs: 20_000, leaseMs: 60_000 };

async function startPooler(postgres: TestPostgres): Promise<{ port: number; stop: () => unknown }> {
  return onFreePort(async (port) => {
    const file = join(postgres.folder, `pooler-${port}.ini`);
    writeFileSync(
      file,
      `[databases]
postgres = host=127.0.0.1 port=${postgres.port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 6
max_client_conn = 100
ignore_startup_parameters = extra_float_digits
`,
    );
    const child = spawn(program!, [file], {
      ...asServer(postgres.folder),
      stdio: ["ignore", "ignore", "pipe"],
    });
    let output = "";
    await new Promise<void>((resolve, reject) => {
      child.stderr.on("data", (chunk: Buffer) => {
        output += String(chunk);
        if (output.includes("process up")) resolve();
      });
      child.once("exit", () => reject(new Error(output)));
    });
    return {
      port,
      async stop() {
        const exited = once(child, "exit");
        child.kill("SIGKILL");
        await exited;
      },
    };
  });
}

interface Logged {
  readonly reasons: string[];
  readonly logger: NonNullable<PostgresSessionsOptions["logger"]>;
}

function collect(): Logged {
  const reasons: string[] = [];
  const silent = (): void => undefined;
  const warn = (fields: object, message?: string): void => {
    reasons.push(`${message} ${JSON.stringify(fields)}`);
  };
  return { reasons, logger: { debug: silent, info: silent, warn, error: silent } };
}

describe.runIf(server)("through PgBouncer in transaction mode", () => {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close();
  });
  afterAll(() => server!.stop());

  /** A run of one process that another one follows and stops; returns what both have logged. */
  async function play(
    options: () => Promise<PostgresSessionsOptions>,
    isPolling: boolean,
  ): Promise<void> {
    const schema = await server!.schema();
    const logs = [collect(), collect()];
    const [owner, view] = await Promise.all(
      logs.map(async ({ logger }) => {
        const store = postgresSessions({ ...patient, ...(await options()), schema, logger });
        closers.push(() => store.close());
        return store;
      }),
    );
    const lease = await open(owner!.runs, key);
    const commands: unknown[] = [];
    owner!.runs.commands(lease, (command) => commands.push(command));
    const follower = follow(view!.runs, key);
    for (let offset = 1; offset <= 10; offset++) {
      await owner!.runs.append(lease, [mark(offset)]);
      await until(() => offsets(follower.entries).at(-1) === offset);
    }
    expect(await view!.runs.requestStop(key)).toBe(true);
    await until(() => commands.length > 0);
    if (isPolling) await until(() => logs.every(({ reasons }) => reasons.length > 0));
    // Long enough for a second warning, if there were one.
    await owner!.runs.append(lease, [mark(11)]);
    await owner!.runs.close(lease, ending(12), "finished");
    await follower.ended;
    expect(offsets(follower.entries)).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
    for (const { reasons } of logs) {
      expect(reasons).toHaveLength(isPolling ? 1 : 0);
      if (isPolling) expect(reasons[0]).toContain("polled");
    }
  }

  test.each(clientKinds)(
    "a run is followed and stopped by polling, which is logged once, with %s",
    async (kind) => {
      const pooler = await startPooler(server!);
      closers.push(pooler.stop);
      const connect =
        kind === "pg"
          ? () => server!.pg({ port: pooler.port })
          : () => server!.postgresJs({ port: pooler.port, prepare: false });
      await play(async () => ({ client: await connect() }), true);
    },
  );

  test("a run is followed and stopped by polling with the prepared statements of postgres.js", async () => {
    const pooler = await startPooler(server!);
    closers.push(pooler.stop);
    await play(async () => ({ client: await server!.postgresJs({ port: pooler.port }) }), true);
  });

  test.each(clientKinds)("without a pooler notifications arrive, with %s", async (kind) => {
    const connect = kind === "pg" ? () => server!.pg() : () => server!.postgresJs();
    await play(async () => ({ client: await connect() }), false);
  });

  test("a pool with one connection is polled, and logged", async () => {
    await play(async () => ({ client: await server!.pg({ max: 1 }) }), true);
  });

  test("polling may be asked for, and is not logged", async () => {
    await play(async () => ({ client: await server!.pg(), listen: false }), false);
  });
});
