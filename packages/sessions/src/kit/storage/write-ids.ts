import { ulid } from "@holodeck/agui-core";

/** Names for the writes of this process: a database recognizes one that is sent twice. */
export function createWriteIds(process: string = ulid()): () => string {
  let writes = 0;
  return () => `${process}:${++writes}`;
}
