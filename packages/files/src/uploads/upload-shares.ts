import { uploadsFull } from "./upload-store.ts";

/** An upload that is kept, as far as room is concerned. */
export interface KeptUpload {
  readonly key: string;
  readonly owner: string;
  readonly size: number;
  /** In ms. */
  readonly expiresAt: number;
}

/** An upload that arrives: it takes room before it is complete. */
interface Arrival {
  /** Throws when there is no room for so many bytes more. */
  take(more: number): void;
  end(): void;
}

/** How the room for uploads is shared. */
export interface UploadShares {
  add(upload: KeptUpload): void;
  /** False: it is not there. */
  remove(key: string): boolean;
  has(key: string): boolean;
  keys(): IterableIterator<string>;
  /** Throws when there is no room for another upload. */
  arrive(owner: string): Arrival;
  /** Uploads that made room, or have expired: to be removed from where they are. */
  takeDoomed(now: number): readonly string[];
}

interface Owner {
  bytes: number;
  files: number;
}

/**
 * All owners together have a number of bytes and of uploads. An owner below an equal share of what is full takes the
 * place of the oldest upload of the one who has most of it.
 */
export function createUploadShares(limits: {
  readonly maxBytes: number;
  readonly maxFiles: number;
}): UploadShares {
  // The oldest first.
  const kept = new Map<string, KeptUpload>();
  const owners = new Map<string, Owner>();
  const total: Owner = { bytes: 0, files: 0 };
  let doomed: string[] = [];

  function change(owner: string, by: Owner): void {
    const own = owners.get(owner) ?? { bytes: 0, files: 0 };
    for (const what of ["bytes", "files"] as const) {
      own[what] += by[what];
      total[what] += by[what];
    }
    if (own.files > 0) owners.set(owner, own);
    else owners.delete(owner);
  }

  function remove(key: string): boolean {
    const upload = kept.get(key);
    if (!upload) return false;
    kept.delete(key);
    change(upload.owner, { bytes: -upload.size, files: -1 });
    return true;
  }

  function makeRoom(owner: string, what: keyof Owner): void {
    const [most, limit] =
      what === "bytes"
        ? [limits.maxBytes, `${limits.maxBytes} bytes`]
        : [limits.maxFiles, `${limits.maxFiles} files`];
    while (total[what] > most) {
      const isModest = (owners.get(owner)?.[what] ?? 0) <= most / owners.size;
      const oldest = isModest ? oldestOf(largest(what)) : undefined;
      if (!oldest || oldest.owner === owner) throw uploadsFull(limit);
      remove(oldest.key);
      doomed.push(oldest.key);
    }
  }

  function largest(what: keyof Owner): string | undefined {
    let found: readonly [string, Owner] | undefined;
    for (const entry of owners) if (!found || entry[1][what] > found[1][what]) found = entry;
    return found?.[0];
  }

  function oldestOf(owner: string | undefined): KeptUpload | undefined {
    for (const upload of kept.values()) if (upload.owner === owner) return upload;
    return undefined;
  }

  return {
    add(upload) {
      remove(upload.key);
      kept.set(upload.key, upload);
      change(upload.owner, { bytes: upload.size, files: 1 });
    },
    remove,
    has: (key) => kept.has(key),
    keys: () => kept.keys(),
    arrive(owner) {
      let own = 0;
      const leave = (): void => change(owner, { bytes: -own, files: -1 });
      change(owner, { bytes: 0, files: 1 });
      try {
        makeRoom(owner, "files");
      } catch (error) {
        leave();
        throw error;
      }
      return {
        take(more) {
          own += more;
          change(owner, { bytes: more, files: 0 });
          makeRoom(owner, "bytes");
        },
        end: leave,
      };
    },
    takeDoomed(now) {
      for (const { key, expiresAt } of kept.values()) {
        // All are kept for the same time, so those that follow expire later.
        if (expiresAt > now) break;
        remove(key);
        doomed.push(key);
      }
      const keys = doomed;
      doomed = [];
      return keys;
    },
  };
}
