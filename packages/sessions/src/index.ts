export { memorySessions } from "./memory-sessions.ts";
export type { MemorySessionsOptions } from "./memory-sessions.ts";
export { estimateTokens, pruneMessages } from "./prune-messages.ts";
export type { PruneOptions } from "./prune-messages.ts";
