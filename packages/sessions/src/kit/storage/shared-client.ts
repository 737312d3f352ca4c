/** What all stores of this process that use one client of the host's have in common. */
export interface SharedClient<T> {
  readonly value: T;
  /** Called by a store at its end. The last one detaches. */
  release(): void;
}

/** For one kind of client: attaches to each of them once, however many stores use it. */
export function createSharing<Client extends object, T>(
  attach: (client: Client) => { readonly value: T; detach(): void },
): (client: Client) => SharedClient<T> {
  const attached = new WeakMap<Client, { users: number; readonly value: T; detach(): void }>();

  return (client) => {
    const shared = attached.get(client) ?? { users: 0, ...attach(client) };
    attached.set(client, shared);
    shared.users++;
    let isReleased = false;
    return {
      value: shared.value,
      release() {
        if (isReleased) return;
        isReleased = true;
        if (--shared.users > 0) return;
        attached.delete(client);
        shared.detach();
      },
    };
  };
}
