import { AgentError } from "@holodeck/agui-core";

/** The share of one upload in the memory of all. */
export interface UploadShare {
  /** Throws when there is no room for that many more bytes. */
  take(bytes: number): void;
  release(): void;
}

export interface UploadBudgetOptions {
  /** The largest upload. */
  readonly uploadBytes: number;
  /** How many of those have room. */
  readonly uploads: number;
}

/**
 * Memory for the uploads of all clients together: each holds its share until its run has ended. One owner never has all
 * of it: there is room for an upload of another.
 */
export function createUploadBudget({
  uploadBytes,
  uploads,
}: UploadBudgetOptions): (owner: string) => UploadShare {
  const held = new Map<string, number>();
  let used = 0;

  function change(owner: string, by: number): void {
    used += by;
    const bytes = (held.get(owner) ?? 0) + by;
    if (bytes > 0) held.set(owner, bytes);
    else held.delete(owner);
  }

  return (owner) => {
    let own = 0;
    return {
      take(bytes) {
        const isFull = used + bytes > uploads * uploadBytes;
        if (isFull || (held.get(owner) ?? 0) + bytes > (uploads - 1) * uploadBytes) {
          const message = "The server is busy with other uploads.";
          throw new AgentError("capacity-exceeded", message, { retryAfter: 5 });
        }
        change(owner, bytes);
        own += bytes;
      },
      release() {
        change(owner, -own);
        own = 0;
      },
    };
  };
}
