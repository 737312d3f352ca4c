export { chatStreamEncoder } from "./chat/chat-stream-encoder.ts";
export type { ChatStreamEncoderOptions } from "./chat/chat-stream-encoder.ts";
export { openai } from "./openai.ts";
export type { OpenAiOptions } from "./options.ts";
export { responseEncoder } from "./responses/response-encoder.ts";
export type { ResponseEncoderOptions } from "./responses/response-encoder.ts";
export type { ApprovalDisplay } from "./responses/response-note.ts";
export type { ServerToolDisplay } from "./shared/answer-reader.ts";
export type { InstructionsTarget } from "./shared/instructions.ts";
