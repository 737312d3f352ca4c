export { clients } from "./clients.ts";
export type { Client, Conversation, ConversationOptions, SeenEvent } from "./clients.ts";
export { finished, started, text, toolCall, waitingFor } from "./expected.ts";
