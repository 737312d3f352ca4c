export { threads } from "./threads.ts";
export type { ThreadsOptions } from "./threads.ts";
export { threadsEncoder } from "./threads-encoder.ts";
export type { ThreadsEncoderOptions } from "./threads-encoder.ts";
