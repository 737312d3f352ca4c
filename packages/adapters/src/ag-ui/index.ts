export { fromAbstractAgent } from "./from-abstract-agent.ts";
export type { AguiAgent, AguiAgentFactory } from "./from-abstract-agent.ts";
