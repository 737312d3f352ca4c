/** The part of a client that reports what happens to its connection. */
export interface ClientEvents {
  on(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
}

export interface ReadyListeners {
  /** Calls back whenever a connection is ready; returns a function that unsubscribes. */
  onReady(listener: () => void): () => void;
  /** Takes the listeners off the client, when no other store uses it. */
  release(): void;
}

interface Shared {
  readonly waiting: Set<() => void>;
  readonly onEvent: () => void;
  users: number;
}

const sharedBy = new WeakMap<ClientEvents, Shared>();

// Every failure reaches a caller through its command; without a listener it would end the process.
const ignore = (): void => undefined;

/** Listens to a client. Each event has one listener, however many stores use the client. */
export function listenTo(client: ClientEvents, events: readonly string[]): ReadyListeners {
  const shared = sharedBy.get(client) ?? attach(client, events);
  shared.users++;
  let isReleased = false;
  return {
    onReady(listener) {
      shared.waiting.add(listener);
      return () => void shared.waiting.delete(listener);
    },
    release() {
      if (isReleased) return;
      isReleased = true;
      if (--shared.users > 0) return;
      sharedBy.delete(client);
      client.off("error", ignore);
      for (const event of events) client.off(event, shared.onEvent);
    },
  };
}

function attach(client: ClientEvents, events: readonly string[]): Shared {
  const waiting = new Set<() => void>();
  const onEvent = (): void => {
    for (const listener of waiting) listener();
  };
  const shared = { waiting, onEvent, users: 0 };
  sharedBy.set(client, shared);
  client.on("error", ignore);
  for (const event of events) client.on(event, onEvent);
  return shared;
}
