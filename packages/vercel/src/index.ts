export { decodeUi } from "./decode-ui.ts";
export type { DecodeChat, DecodedChat, DecodeOptions } from "./decoded-chat.ts";
export type { StreamOptions, Wire } from "./stream-encoder.ts";
export { toVercelResponse } from "./to-vercel-response.ts";
export type { EventStream, ToVercelResponseOptions } from "./to-vercel-response.ts";
export { uiStreamEncoder } from "./ui-stream-encoder.ts";
export type { RunFailure, UiStreamEncoderOptions } from "./ui-stream-encoder.ts";
export { vercel } from "./vercel.ts";
export type { VercelOptions } from "./vercel.ts";
