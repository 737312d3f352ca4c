export type { ProtocolFrame } from "./protocol/_protocol-frames.ts";
export type { CreateStore, StoreSetup, TestStoreOptions } from "./store/_store-bench.ts";
export { runMatchers } from "./matchers.ts";
export type { RunLike, RunMatchers } from "./matchers.ts";
export { testAdapter } from "./adapter/test-adapter.ts";
export type { TestAdapterOptions } from "./adapter/test-adapter.ts";
export type {
  AdapterHandler,
  AdapterHandlerOptions,
  AdapterSetup,
  AdapterTool,
} from "./adapter/_adapter-bench.ts";
export type { AdapterFeature } from "./adapter/_adapter-features.ts";
export { adapterUsage } from "./adapter/_adapter-model.ts";
export type { AdapterModel, ModelPart } from "./adapter/_adapter-model.ts";
export { testBinding } from "./binding/test-binding.ts";
export type { MountBinding, MountedBinding, TestBindingOptions } from "./binding/test-binding.ts";
export { testEncoder } from "./encoder/test-encoder.ts";
export type { TestEncoderOptions } from "./encoder/test-encoder.ts";
export { testProtocol } from "./protocol/test-protocol.ts";
export type { ProtocolRun, TestProtocolOptions } from "./protocol/test-protocol.ts";
export { testRunLog } from "./store/test-run-log.ts";
export { testSessionStore } from "./store/test-session-store.ts";
