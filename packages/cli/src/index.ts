export { main } from "./main.ts";
export type { Command, Io } from "./io.ts";
export type { LoadedAgent } from "./loaded-agent.ts";
export { AgentFileError } from "./yaml/agent-file-error.ts";
export type { AgentFileFault } from "./yaml/agent-file-error.ts";
export { loadYamlAgent } from "./yaml/load.ts";
