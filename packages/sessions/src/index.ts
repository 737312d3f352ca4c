export { memorySessions } from "./memory/memory-sessions.ts";
export type { MemorySessionsOptions } from "./memory/memory-sessions.ts";
export { estimateTokens, pruneMessages } from "./kit/sessions/prune-messages.ts";
export type { PruneOptions } from "./kit/sessions/prune-messages.ts";
