import { AgentError } from "@holodeck/agui-core";

/** The share of one upload in the memory of all. */
export interface UploadShare {
  /** Throws when there is no room for that many more bytes. */
  take(bytes: number): void;
  release(): void;
}

/** Memory for the uploads of all clients together: each holds its share until its run has ended. */
export function createUploadBudget(maxBytes: number): () => UploadShare {
  let used = 0;
  return () => {
    let own = 0;
    return {
      take(bytes) {
        if (used + bytes > maxBytes) {
          const message = "The server is busy with other uploads.";
          throw new AgentError("capacity-exceeded", message, { retryAfter: 5 });
        }
        used += bytes;
        own += bytes;
      },
      release() {
        used -= own;
        own = 0;
      },
    };
  };
}
