export { fromLangGraph } from "./from-lang-graph.ts";
export type { FromLangGraphOptions, LangGraph } from "./from-lang-graph.ts";
export { toLangChainMessages } from "./to-lang-chain-messages.ts";
export type { LangChainMessage, LangChainUserPart } from "./to-lang-chain-messages.ts";
