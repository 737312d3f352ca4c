import { createSharing } from "../../kit/storage/shared-client.ts";

/** The part of a client that reports what happens to its connection. */
export interface ClientEvents {
  on(event: string, listener: (error?: unknown) => void): unknown;
  off(event: string, listener: (error?: unknown) => void): unknown;
}

export interface ReadyListeners {
  /** Calls back whenever a connection is ready; returns a function that unsubscribes. */
  onReady(listener: () => void): () => void;
  /** What the client reported since its connection was ready last. */
  reason(): unknown;
  /** Takes the listeners off the client, when no other store uses it. */
  release(): void;
}

/** Listens to clients of one kind. Each event of a client has one listener, however many stores use the client. */
export function createListening(
  events: readonly string[],
): (client: ClientEvents) => ReadyListeners {
  const share = createSharing((client: ClientEvents) => {
    const waiting = new Set<() => void>();
    const state = { waiting, reason: undefined as unknown };
    const onReady = (): void => {
      state.reason = undefined;
      for (const listener of waiting) listener();
    };
    // Without a listener it would end the process.
    const onError = (error: unknown): void => {
      state.reason = error;
    };
    client.on("error", onError);
    for (const event of events) client.on(event, onReady);
    return {
      value: state,
      detach() {
        client.off("error", onError);
        for (const event of events) client.off(event, onReady);
      },
    };
  });

  return (client) => {
    const { value, release } = share(client);
    return {
      onReady(listener) {
        value.waiting.add(listener);
        return () => void value.waiting.delete(listener);
      },
      reason: () => value.reason,
      release,
    };
  };
}
