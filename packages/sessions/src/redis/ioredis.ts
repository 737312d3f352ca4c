import type { RedisCommands } from "./commands.ts";

/** What is used of a client of `ioredis`. */
export interface IoRedisClient {
  readonly status: string;
  readonly options: { readonly keyPrefix?: string | undefined };
  call(command: string, ...args: string[]): Promise<unknown>;
  duplicate(override?: object): IoRedisClient;
  disconnect(): void;
  on(event: string, listener: () => void): unknown;
}

export function wrapIoRedis(client: IoRedisClient): RedisCommands {
  // Every failure reaches a caller through its command.
  client.on("error", () => undefined);
  const waiting = new Set<() => void>();
  client.on("ready", () => {
    for (const listener of waiting) listener();
  });
  return {
    keyPrefix: client.options.keyPrefix ?? "",
    // `wait`: a lazy client connects with its first command.
    isReady: () => client.status === "ready" || client.status === "wait",
    onReady(listener) {
      waiting.add(listener);
      return () => void waiting.delete(listener);
    },
    call: ([name = "", ...args]) => client.call(name, ...args),
    duplicate() {
      const copy = client.duplicate({
        // A blocking read takes its time.
        commandTimeout: undefined,
        socketTimeout: undefined,
        blockingTimeout: undefined,
        lazyConnect: false,
        // Fails with the connection; without it the read would be sent again as it was.
        maxRetriesPerRequest: 0,
      });
      return wrapIoRedis(copy);
    },
    close: () => client.disconnect(),
  };
}
