export { copilotkit, slimCopilotkit } from "./copilotkit.ts";
export type { CopilotKitOptions } from "./copilotkit.ts";
