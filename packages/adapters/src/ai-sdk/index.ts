export { fromAiSdk } from "./from-ai-sdk.ts";
export type { AiSdkPart, AiSdkSource, FromAiSdkOptions } from "./from-ai-sdk.ts";
export { toAiSdkMessages } from "./to-ai-sdk-messages.ts";
export type {
  AiSdkApprovalRequest,
  AiSdkApprovalResponse,
  AiSdkAskedMessage,
  AiSdkAssistantPart,
  AiSdkMessage,
  AiSdkToolPart,
  AiSdkUserPart,
  ToAiSdkMessagesOptions,
} from "./to-ai-sdk-messages.ts";
export { toAiSdkTools } from "./to-ai-sdk-tools.ts";
export type { AiSdkTool } from "./to-ai-sdk-tools.ts";
export type { AdapterContext, Ask } from "../_source.ts";
