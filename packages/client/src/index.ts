export { connectAgent } from "./connect-agent.ts";
export type { ConnectableAgent } from "./connect-agent.ts";
export { resumable } from "./resumable.ts";
export type { ResumableOptions } from "./resumable.ts";
