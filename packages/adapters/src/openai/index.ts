export { fromOpenAI } from "./from-openai.ts";
export type { OpenAISource } from "./from-openai.ts";
export { toOpenAIMessages, toOpenAITools } from "./to-openai-messages.ts";
export type { OpenAIMessage, OpenAITool, OpenAIUserPart } from "./to-openai-messages.ts";
export { toResponseInput, toResponseTools } from "./to-response-input.ts";
export type { ResponseInputItem, ResponseTool, ResponseUserPart } from "./to-response-input.ts";
export type { AdapterContext, Ask } from "../_source.ts";
