// The stores that are measured, by name and the place of their data, so that a second process opens the same.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memorySessions } from "@holodeck/agui-sessions";
import { startPostgres } from "./postgres-server.mjs";
import { startRedis } from "./redis-server.mjs";

/** Every store that this machine can have. `end` removes what was made for it. */
export async function openStores(report) {
  return [await memory(), await sqlite(), await redis(report), await postgres(report)].filter(
    Boolean,
  );
}

/** A store on data that is there already, and how to close it. */
export async function openAt(name, at) {
  if (name === "sqlite") {
    const { sqliteSessions } = await import("@holodeck/agui-sessions/sqlite");
    const store = sqliteSessions({ path: at });
    return { store, close: () => store.close() };
  }
  if (name === "redis") {
    const [{ createClient }, { redisSessions }] = await Promise.all([
      import("redis"),
      import("@holodeck/agui-sessions/redis"),
    ]);
    const client = await createClient({ url: at }).connect();
    const store = redisSessions({ client });
    const close = async () => {
      await Promise.resolve(store.close());
      client.destroy();
    };
    return { store, close };
  }
  const [{ Pool }, { migrate, postgresSessions }] = await Promise.all([
    import("pg"),
    import("@holodeck/agui-sessions/postgres"),
  ]);
  const client = new Pool({ connectionString: at });
  await migrate({ client });
  const store = postgresSessions({ client });
  const close = async () => {
    await store.close();
    await client.end();
  };
  return { store, close };
}

async function memory() {
  const store = memorySessions();
  return { name: "memory", store, end: () => store.close() };
}

async function sqlite() {
  const folder = mkdtempSync(join(tmpdir(), "agui-bench-"));
  return opened("sqlite", join(folder, "bench.db"), () =>
    rmSync(folder, { recursive: true, force: true }),
  );
}

async function redis(report) {
  const server = await startRedis(report);
  return server && opened("redis", server.url, server.end);
}

async function postgres(report) {
  const server = await startPostgres(report);
  return server && opened("postgres", server.url, server.end);
}

async function opened(name, at, stop) {
  const { store, close } = await openAt(name, at);
  const end = async () => {
    await close();
    await stop();
  };
  return { name, at, store, end };
}
