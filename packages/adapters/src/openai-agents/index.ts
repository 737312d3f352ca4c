export { fromOpenAIAgents } from "./from-openai-agents.ts";
export type {
  FromOpenAIAgentsOptions,
  OpenAIAgent,
  OpenAIAgentsSdk,
} from "./from-openai-agents.ts";
export { toOpenAIAgentsInput } from "./to-openai-agents-input.ts";
export type { OpenAIAgentsItem, OpenAIAgentsUserPart } from "./to-openai-agents-input.ts";
