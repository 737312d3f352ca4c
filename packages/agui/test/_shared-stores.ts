import type { SessionStore } from "@holodeck/agui-core";
import { memorySessions } from "@holodeck/agui-sessions";
import { openPlace, placeKinds } from "./_places.ts";

/** A store as two servers see it. */
export interface SharedStore {
  readonly owner: SessionStore;
  /** Of the second server; absent where a store belongs to one process. */
  readonly other?: SessionStore;
  close(): Promise<void>;
}

export interface StoreKind {
  readonly name: string;
  /** Returns undefined when it cannot be had here; the suite is then reported as not run. */
  open(suite: string): Promise<SharedStore | undefined>;
}

/** Every store there is. */
export const storeKinds: readonly StoreKind[] = [
  {
    name: "memory",
    open: async () => ({ owner: memorySessions(), close: async () => undefined }),
  },
  ...placeKinds.map((name): StoreKind => ({
    name,
    async open(suite) {
      const place = await openPlace(name, suite);
      if (!place) return undefined;
      // On a busy machine a process that does not come to its turn is not dead.
      const patient = { leaseMs: 60_000 };
      return {
        owner: await place.open(patient),
        other: await place.open(patient),
        close: place.close,
      };
    },
  })),
];
