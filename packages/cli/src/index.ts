export { main } from "./main.ts";
export type { Command, Io } from "./shared/io.ts";
export type { AgentModule } from "./shared/loaded-agent.ts";
export { AgentFileError } from "./yaml/faults/agent-file-error.ts";
export type { AgentFileFault } from "./yaml/faults/agent-file-error.ts";
export { loadYamlAgent } from "./yaml/load.ts";
