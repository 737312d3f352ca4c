import type { RedisCommands } from "./commands.ts";
import { createListening } from "./listeners.ts";
import type { ClientEvents } from "./listeners.ts";
import { keyOfCommand, slotOf } from "./slot.ts";

/** What is used of a client of `redis`. */
export interface NodeRedisClient extends ClientEvents {
  readonly isReady: boolean;
  sendCommand(command: readonly string[]): Promise<unknown>;
  duplicate(): NodeRedisClient;
  connect(): Promise<unknown>;
  destroy(): void;
}

/** What is used of a cluster of `redis`. */
export interface NodeRedisCluster extends ClientEvents {
  readonly isOpen: boolean;
  readonly slots: readonly { readonly master: object }[];
  sendCommand(key: string, isReadonly: boolean, command: string[]): Promise<unknown>;
  nodeClient(node: never): Promise<NodeRedisClient> | NodeRedisClient;
  destroy(): void;
}

/** What is used of a client of `redis` that asks sentinels for its server. */
export interface NodeRedisSentinel extends ClientEvents {
  readonly isReady: boolean;
  sendCommand(isReadonly: boolean, command: string[], options?: object): Promise<unknown>;
  getMasterNode(): unknown;
  duplicate(overrides?: object): NodeRedisSentinel;
  connect(): Promise<unknown>;
  destroy(): unknown;
}

const listenToClient = createListening(["ready"]);
const listenToCluster = createListening(["connect", "node-ready"]);
const listenToSentinel = createListening(["ready", "topology-change"]);

export function wrapNodeRedis(client: NodeRedisClient): RedisCommands {
  const { onReady, reason, release } = listenToClient(client);
  return {
    keyPrefix: "",
    isCluster: false,
    isReady: () => client.isReady,
    onReady,
    reason,
    call: (command) => client.sendCommand(command),
    duplicate: async () => connectCopy(wrapNodeRedis, client.duplicate()),
    release,
    close: () => destroy(client, release),
  };
}

export function wrapNodeRedisCluster(cluster: NodeRedisCluster): RedisCommands {
  const { onReady, reason, release } = listenToCluster(cluster);
  return {
    keyPrefix: "",
    isCluster: true,
    isReady: () => cluster.isOpen,
    onReady,
    reason,
    call: (command) => cluster.sendCommand(keyOfCommand(command), false, [...command]),
    async duplicate(key) {
      const { master } = cluster.slots[slotOf(key)]!;
      const node = await cluster.nodeClient(master as never);
      return connectCopy(wrapNodeRedis, node.duplicate());
    },
    release,
    close: () => destroy(cluster, release),
  };
}

// A blocking read takes as long as the client's own limit for a command.
const unlimited = { timeout: undefined };

export function wrapNodeRedisSentinel(sentinel: NodeRedisSentinel): RedisCommands {
  const { onReady, reason, release } = listenToSentinel(sentinel);
  return {
    keyPrefix: "",
    isCluster: false,
    isReady: () => sentinel.isReady,
    onReady,
    reason,
    call: (command) => sentinel.sendCommand(false, [...command], unlimited),
    duplicate: async () => connectCopy(wrapNodeRedisSentinel, sentinel.duplicate()),
    release,
    close: () => destroy(sentinel, release),
  };
}

function connectCopy<T extends { connect(): Promise<unknown> }>(
  wrap: (client: T) => RedisCommands,
  copy: T,
): RedisCommands {
  const wrapped = wrap(copy);
  copy.connect().catch(() => undefined);
  return wrapped;
}

function destroy(client: { destroy(): unknown }, release: () => void): void {
  try {
    // What it reports while it closes is of no interest, and must have a listener.
    void Promise.resolve(client.destroy()).then(release, release);
  } catch {
    // It was closed already.
    release();
  }
}
