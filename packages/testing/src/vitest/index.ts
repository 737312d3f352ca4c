export { testBinding } from "./test-binding.ts";
export type { MountBinding, MountedBinding, TestBindingOptions } from "./test-binding.ts";
