/** The entry for small bundles: what is not named in `protocols` is not in them. See docs/hosts.md, "Weight". */
export { createSlimHandler as createAgentHandler } from "./create-slim-handler.ts";
export type { SlimHandler, SlimHandlerOptions } from "./create-slim-handler.ts";
export { jsonLogger } from "./options/json-logger.ts";
export { AgentError, EventType, isAgentError, lastUserText, ulid } from "@holodeck/agui-core";
export { slimCopilotkit as copilotkit } from "@holodeck/agui-copilotkit";
export { slimAgui as agui } from "@holodeck/agui-protocol";
export { slimRest as rest, slimThreads as threads } from "@holodeck/agui-rest";
export { memorySessions } from "@holodeck/agui-sessions";
export { slimVercel as vercel } from "@holodeck/agui-vercel";
export type { AgentMap } from "./runs/agents.ts";
export type {
  AgentFunction,
  AgentLike,
  Protocol,
  RunAgentInput,
  RunContext,
  SessionStore,
} from "@holodeck/agui-core";
