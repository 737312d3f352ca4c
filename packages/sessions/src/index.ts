export { memorySessions } from "./memory-sessions.ts";
export type { MemorySessionsOptions } from "./memory-sessions.ts";
