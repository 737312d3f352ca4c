import type { RunCommand, RunRecord, Session, ThreadKey } from "@holodeck/agui-core";
import { createTurns } from "@holodeck/agui-sessions/kit";
import type { StoredEntry } from "@holodeck/agui-sessions/kit";
import type { KeyValue } from "./key-value.ts";

/** Everything about a thread in one document, so that one write changes session, log and lease together. */
export interface ThreadDocument {
  session?: Session | undefined;
  /** Oldest first; only the last one can be running. */
  runs: StoredRun[];
}

export interface StoredRun {
  record: RunRecord;
  /** The number of the lease. No other run ever gets the same. */
  fence: number;
  /** The owner is gone unless it renews its lease before this time. */
  expiresAt: number;
  endedAt?: number | undefined;
  entries: StoredEntry[];
  commands: RunCommand[];
  /** How many followers each process has, and until when that counts. */
  watchers: Record<string, { count: number; until: number }>;
}

/** The documents of all threads. */
export interface Threads {
  read(key: ThreadKey): Promise<ThreadDocument>;
  /**
   * Changes a document. `work` may run more than once, when another process writes at the same time; what it
   * throws is thrown, and nothing is stored.
   */
  change<T>(key: ThreadKey, work: (document: ThreadDocument) => T): Promise<T>;
  /** Of one principal, or all. */
  list(principal?: string): Promise<ThreadDocument[]>;
}

export function createThreads(kv: KeyValue): Threads {
  const inTurn = createTurns();
  return {
    async read(key) {
      return (await kv.get<ThreadDocument>(nameOf(key)))?.value ?? { runs: [] };
    },
    change(key, work) {
      const name = nameOf(key);
      // Changes of this process keep their order; those of others are noticed by the version.
      return inTurn(name, async () => {
        for (;;) {
          const stored = await kv.get<ThreadDocument>(name);
          const document = stored?.value ?? { runs: [] };
          const before = JSON.stringify(document);
          const result = work(document);
          const isEmpty = !document.session && document.runs.length === 0;
          if (JSON.stringify(document) === before) return result;
          if (await kv.set(name, isEmpty ? undefined : document, stored?.version)) return result;
        }
      });
    },
    list: (principal) =>
      kv.list(principal === undefined ? "thread/" : `thread/${encodeURIComponent(principal)}/`),
  };
}

// Parts are encoded: else `"a/b"` and `"c"` would have the same key as `"a"` and `"b/c"`.
function nameOf({ principal, threadId }: ThreadKey): string {
  return `thread/${encodeURIComponent(principal)}/${encodeURIComponent(threadId)}`;
}
