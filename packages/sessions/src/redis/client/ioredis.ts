import type { RedisCommands } from "./commands.ts";
import { createListening } from "./listeners.ts";
import type { ClientEvents } from "./listeners.ts";
import { slotOf } from "./slot.ts";

/** What is used of a client of `ioredis`. */
export interface IoRedisClient extends ClientEvents {
  readonly status: string;
  readonly options: { readonly keyPrefix?: string | undefined };
  call(command: string, ...args: string[]): Promise<unknown>;
  duplicate(override?: object): IoRedisClient;
  disconnect(): void;
}

/** What is used of a cluster of `ioredis`. */
export interface IoRedisCluster extends ClientEvents {
  readonly isCluster: boolean;
  readonly status: string;
  readonly options: { readonly keyPrefix?: string | undefined };
  /** The nodes of each slot, the master first. */
  readonly slots: readonly (readonly string[])[];
  nodes(role: "master"): readonly (IoRedisClient & {
    readonly options: { readonly host?: string | undefined; readonly port?: number | undefined };
  })[];
  call(command: string, ...args: string[]): Promise<unknown>;
  disconnect(): void;
}

// A blocking read takes its time. It fails with its connection, instead of being sent again as it was.
const blocking = {
  commandTimeout: undefined,
  socketTimeout: undefined,
  blockingTimeout: undefined,
  lazyConnect: false,
  maxRetriesPerRequest: 0,
};

const listen = createListening(["ready"]);

export function wrapIoRedis(client: IoRedisClient): RedisCommands {
  return {
    ...wrap(client),
    isCluster: false,
    duplicate: async () => wrapIoRedis(client.duplicate(blocking)),
  };
}

export function wrapIoRedisCluster(cluster: IoRedisCluster): RedisCommands {
  return {
    ...wrap(cluster),
    isCluster: true,
    async duplicate(key) {
      const [address] = cluster.slots[slotOf(key)] ?? [];
      const nodes = cluster.nodes("master");
      const node = nodes.find(({ options: { host, port } }) => `${host}:${port}` === address);
      if (!node) throw new Error(`No node of the cluster has ${key}.`);
      // A cluster connects its nodes when it needs them and gives up on one that is gone; this one stays.
      const retryStrategy = (times: number): number => Math.min(times * 50, 2_000);
      return wrapIoRedis(node.duplicate({ ...blocking, retryStrategy, enableOfflineQueue: true }));
    },
  };
}

function wrap(
  client: Omit<IoRedisClient, "duplicate">,
): Omit<RedisCommands, "isCluster" | "duplicate"> {
  const { onReady, reason, release } = listen(client);
  return {
    keyPrefix: client.options.keyPrefix ?? "",
    // `wait`: a lazy client connects with its first command.
    isReady: () => client.status === "ready" || client.status === "wait",
    onReady,
    reason,
    call: ([name = "", ...args]) => client.call(name, ...args),
    release,
    close() {
      client.disconnect();
      release();
    },
  };
}
