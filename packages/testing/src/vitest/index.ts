export { runMatchers } from "./matchers.ts";
export type { RunLike, RunMatchers } from "./matchers.ts";
export { testBinding } from "./test-binding.ts";
export type { MountBinding, MountedBinding, TestBindingOptions } from "./test-binding.ts";
