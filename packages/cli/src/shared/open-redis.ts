import { CliError, usageError } from "./cli-error.ts";
import type { OpenStore, StoreBounds } from "./open-store.ts";
import { reasonOf } from "./reason-of.ts";
import { withoutSecrets } from "./server-url.ts";

/** Threads in Redis. */
export async function openRedis(
  url: string,
  { bounds, isLazy }: { bounds: StoreBounds; isLazy: boolean },
): Promise<OpenStore> {
  if (!URL.canParse(url)) {
    throw usageError(`"${url}" is not a Redis URL, like redis://127.0.0.1:6379.`);
  }
  const name = withoutSecrets(url);
  const [{ createClient }, { redisSessions }] = await Promise.all([
    import("redis"),
    import("@holodeck/agui-sessions/redis"),
  ]);
  let mayRetry = isLazy;
  const client = createClient({
    url,
    socket: {
      connectTimeout: 3_000,
      // A server that is not reachable at the start is an error; later it may come back.
      reconnectStrategy: (retries) => mayRetry && Math.min(retries * 100, 2_000),
    },
  });
  // Commands report errors to their callers; without a listener, an error would end the process.
  client.on("error", () => undefined);
  const connected = client.connect();
  try {
    if (isLazy) connected.catch(() => undefined);
    else await connected.then(() => client.ping());
  } catch (error) {
    if (client.isOpen) client.destroy();
    throw new CliError(`Redis at ${name} cannot be reached: ${reasonOf(error)}`, { cause: error });
  }
  mayRetry = true;
  const sessions = redisSessions({ ...bounds, client });
  return {
    sessions,
    name,
    async close() {
      await sessions.close();
      if (client.isOpen) client.destroy();
    },
  };
}
