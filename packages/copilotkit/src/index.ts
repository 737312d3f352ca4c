export { copilotkit } from "./copilotkit.ts";
export type { CopilotKitOptions } from "./copilotkit.ts";
