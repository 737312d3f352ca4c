import type { RedisCommands } from "./commands.ts";

/** What is used of a client of `redis`. */
export interface NodeRedisClient {
  readonly isReady: boolean;
  sendCommand(command: readonly string[]): Promise<unknown>;
  duplicate(): NodeRedisClient;
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: string, listener: () => void): unknown;
}

export function wrapNodeRedis(client: NodeRedisClient): RedisCommands {
  // Every failure reaches a caller through its command; without a listener it would end the process.
  client.on("error", () => undefined);
  const waiting = new Set<() => void>();
  client.on("ready", () => {
    for (const listener of waiting) listener();
  });
  return {
    keyPrefix: "",
    isReady: () => client.isReady,
    onReady(listener) {
      waiting.add(listener);
      return () => void waiting.delete(listener);
    },
    call: (command) => client.sendCommand(command),
    duplicate() {
      const copy = client.duplicate();
      const wrapped = wrapNodeRedis(copy);
      copy.connect().catch(() => undefined);
      return wrapped;
    },
    close() {
      try {
        client.destroy();
      } catch {
        // It was closed already.
      }
    },
  };
}
