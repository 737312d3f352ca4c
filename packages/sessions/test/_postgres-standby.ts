import { spawnSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { asServer, startPostgres } from "./_postgres.ts";
import type { TestPostgres } from "./_postgres.ts";
import { until } from "./_redis-runs.ts";

export interface Standby extends TestPostgres {
  /** Waits until it has everything that the first server has. */
  caughtUp(): Promise<void>;
}

/** A second server that receives what the first one writes. */
export async function startStandby(primary: TestPostgres): Promise<Standby> {
  const data = join(primary.folder, "standby");
  const from = ["-h", "127.0.0.1", "-p", String(primary.port), "-U", "postgres"];
  const copied = spawnSync(
    join(primary.programs, "pg_basebackup"),
    [...from, "-D", data, "-R", "-X", "stream", "-c", "fast", "--no-sync"],
    asServer(primary.folder),
  );
  if (copied.status !== 0) throw new Error(`pg_basebackup failed: ${String(copied.stderr)}`);
  appendFileSync(join(data, "postgresql.auto.conf"), "hot_standby = on\n");
  const standby = (await startPostgres("a standby", { programs: primary.programs, data }))!;
  return {
    ...standby,
    async caughtUp() {
      const [{ lsn }] = (await primary.sql("SELECT pg_current_wal_flush_lsn()::text AS lsn")) as [
        { lsn: string },
      ];
      await until(async () => {
        const text = `SELECT pg_last_wal_replay_lsn() >= '${lsn}'::pg_lsn AS done`;
        return ((await standby.sql(text)) as [{ done: boolean }])[0].done;
      });
    },
  };
}

export async function promoteStandby(standby: TestPostgres): Promise<void> {
  await standby.sql("SELECT pg_promote(true, 60)");
}
