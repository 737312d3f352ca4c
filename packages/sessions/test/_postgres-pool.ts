import { Pool } from "pg";

/** A pool of another process, for packages that do not depend on `pg`. */
export function openPool(port: number): Pool {
  const pool = new Pool({ host: "127.0.0.1", port, user: "postgres", database: "postgres" });
  pool.on("error", () => undefined);
  return pool;
}
