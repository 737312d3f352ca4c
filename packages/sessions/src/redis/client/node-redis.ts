import type { RedisCommands } from "./commands.ts";
import { keyOfCommand, slotOf } from "./slot.ts";

/** What is used of a client of `redis`. */
export interface NodeRedisClient {
  readonly isReady: boolean;
  sendCommand(command: readonly string[]): Promise<unknown>;
  duplicate(): NodeRedisClient;
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: string, listener: () => void): unknown;
}

/** What is used of a cluster of `redis`. */
export interface NodeRedisCluster {
  readonly isOpen: boolean;
  readonly slots: readonly { readonly master: object }[];
  sendCommand(key: string, isReadonly: boolean, command: string[]): Promise<unknown>;
  nodeClient(node: never): Promise<NodeRedisClient> | NodeRedisClient;
  destroy(): void;
  on(event: string, listener: () => void): unknown;
}

export function wrapNodeRedis(client: NodeRedisClient): RedisCommands {
  return {
    keyPrefix: "",
    isCluster: false,
    isReady: () => client.isReady,
    onReady: listen(client, ["ready"]),
    call: (command) => client.sendCommand(command),
    duplicate: async () => connectCopy(client),
    close: () => destroy(client),
  };
}

export function wrapNodeRedisCluster(cluster: NodeRedisCluster): RedisCommands {
  return {
    keyPrefix: "",
    isCluster: true,
    isReady: () => cluster.isOpen,
    onReady: listen(cluster, ["connect", "node-ready"]),
    call: (command) => cluster.sendCommand(keyOfCommand(command), false, [...command]),
    async duplicate(key) {
      const { master } = cluster.slots[slotOf(key)]!;
      return connectCopy(await cluster.nodeClient(master as never));
    },
    close: () => destroy(cluster),
  };
}

function connectCopy(client: NodeRedisClient): RedisCommands {
  const copy = client.duplicate();
  const wrapped = wrapNodeRedis(copy);
  copy.connect().catch(() => undefined);
  return wrapped;
}

/** One listener of the client's for all of ours. */
function listen(
  client: Pick<NodeRedisClient, "on">,
  events: readonly string[],
): RedisCommands["onReady"] {
  const waiting = new Set<() => void>();
  // Every failure reaches a caller through its command; without a listener it would end the process.
  client.on("error", () => undefined);
  for (const event of events) {
    client.on(event, () => {
      for (const listener of waiting) listener();
    });
  }
  return (listener) => {
    waiting.add(listener);
    return () => void waiting.delete(listener);
  };
}

function destroy(client: Pick<NodeRedisClient, "destroy">): void {
  try {
    client.destroy();
  } catch {
    // It was closed already.
  }
}
