export type { ProtocolFrame } from "./_protocol-frames.ts";
export { runMatchers } from "./matchers.ts";
export type { RunLike, RunMatchers } from "./matchers.ts";
export { testBinding } from "./test-binding.ts";
export type { MountBinding, MountedBinding, TestBindingOptions } from "./test-binding.ts";
export { testEncoder } from "./test-encoder.ts";
export type { TestEncoderOptions } from "./test-encoder.ts";
export { testProtocol } from "./test-protocol.ts";
export type { ProtocolRun, TestProtocolOptions } from "./test-protocol.ts";
