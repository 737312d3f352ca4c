export { sqliteSessions } from "./sqlite-sessions.ts";
export type { SqliteSessionsOptions } from "./sqlite-sessions.ts";
