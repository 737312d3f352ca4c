export { fromAbstractAgent } from "./from-abstract-agent.ts";
export type {
  AguiAgent,
  AguiAgentFactory,
  FromAbstractAgentOptions,
} from "./from-abstract-agent.ts";
