export { memorySessions } from "./memory/memory-sessions.ts";
export type { MemorySessionsOptions } from "./memory/memory-sessions.ts";
export { estimateTokens, pruneMessages } from "./shared/prune-messages.ts";
export type { PruneOptions } from "./shared/prune-messages.ts";
