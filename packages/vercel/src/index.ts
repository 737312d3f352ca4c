export type { DecodeChat, DecodedChat, DecodeOptions } from "./decoded-chat.ts";
export { decodeUi } from "./decode-ui.ts";
export { uiStreamEncoder } from "./ui-stream-encoder.ts";
export type { RunFailure, UiStreamEncoderOptions } from "./ui-stream-encoder.ts";
export { vercel } from "./vercel.ts";
export type { VercelOptions } from "./vercel.ts";
