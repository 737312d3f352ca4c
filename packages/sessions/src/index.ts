export { memorySessions } from "./memory/memory-sessions.ts";
export type { MemorySessionsOptions } from "./memory/memory-sessions.ts";
export { estimateTokens, pruneMessages } from "./kit/prune-messages.ts";
export type { PruneOptions } from "./kit/prune-messages.ts";
