/** A value and how often it was written. */
interface Versioned<T> {
  readonly value: T;
  readonly version: number;
}

/**
 * The database: JSON under a key, written only when it has not changed in between. DynamoDB, Firestore,
 * etcd and Deno KV all have these three operations.
 */
export interface KeyValue {
  get<T>(key: string): Promise<Versioned<T> | undefined>;
  /** Writes, or removes when the value is undefined. False, and nothing is changed: another version is stored. */
  set(key: string, value: unknown, version: number | undefined): Promise<boolean>;
  /** Every value whose key begins like this. */
  list<T>(prefix: string): Promise<T[]>;
}

/** A stand-in for the database, for the example and its tests. */
export function memoryKeyValue(): KeyValue {
  // Text, as a database keeps it: what is read is never the object that was written.
  const rows = new Map<string, { text: string; version: number }>();
  let writes = 0;
  return {
    async get<T>(key: string) {
      const row = rows.get(key);
      return row && { value: JSON.parse(row.text) as T, version: row.version };
    },
    async set(key, value, version) {
      if (rows.get(key)?.version !== version) return false;
      if (value === undefined) rows.delete(key);
      else rows.set(key, { text: JSON.stringify(value), version: ++writes });
      return true;
    },
    async list<T>(prefix: string) {
      const found = [...rows].filter(([key]) => key.startsWith(prefix));
      return found.map(([, { text }]) => JSON.parse(text) as T);
    },
  };
}
