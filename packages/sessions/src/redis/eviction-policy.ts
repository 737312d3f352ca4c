import type { Logger } from "@holodeck/agui-core";
import type { RedisConnection } from "./client/connection.ts";

/**
 * Warns when Redis may evict keys by itself: a thread or a log would be gone while it is in use. A user that may not
 * ask (`INFO`) is not warned.
 */
export async function checkEvictionPolicy(
  connection: RedisConnection,
  logger: Pick<Logger, "warn"> = { warn: toConsole },
): Promise<void> {
  const info = await connection.call("INFO", "memory").catch(() => undefined);
  const [, policy] = /^maxmemory_policy:([\w-]+)/m.exec(String(info)) ?? [];
  if (policy === undefined || policy === "noeviction") return;
  logger.warn(
    { policy },
    `Redis has maxmemory-policy ${policy}: it may remove threads and logs that are in use. Set it to noeviction.`,
  );
}

function toConsole(_: object, message = ""): void {
  // oxlint-disable-next-line no-console
  console.warn(message);
}
