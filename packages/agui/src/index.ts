export { allowAnonymous } from "./options/allow-anonymous.ts";
export type { AgentEntry, AgentMap } from "./runs/agents.ts";
export { configFromEnv } from "./options/config-from-env.ts";
export type { ConfigFromEnvOptions, EnvConfig, LlmConfig } from "./options/config-from-env.ts";
export { createAgentHandler } from "./create-agent-handler.ts";
export type { AgentHandler } from "./create-handler.ts";
export type { RunInfo } from "./runs/run-directory.ts";
export type { HealthCheck, HealthOptions, HealthStatus } from "./describe/health.ts";
export { jsonLogger } from "./options/json-logger.ts";
export type { JsonLoggerOptions, LogLevel } from "./options/json-logger.ts";
export type { BusyPolicy } from "./runs/acquire.ts";
export type { CreateSession, SessionResources } from "./runs/resources.ts";
export type { HandlerState } from "./runs/lifecycle.ts";
export type { OpenApiOptions } from "./describe/openapi.ts";
export type { AgentHandlerOptions } from "./options/options.ts";
export { presets } from "./options/presets.ts";
export type { Preset, PresetOptions } from "./options/presets.ts";
export {
  AgentError,
  compose,
  EventType,
  isAgentError,
  lastUserText,
  mapEvents,
  mergeStreams,
  toAgent,
  ulid,
} from "@holodeck/agui-core";
export type {
  AgentEvent,
  AgentFunction,
  AgentLike,
  AgentObject,
  AgentRequest,
  BaseEvent,
  DisconnectPolicy,
  Emit,
  FileProcessor,
  HandlerFacts,
  HandlerMiddleware,
  InputFile,
  Limits,
  Logger,
  Message,
  Middleware,
  Principal,
  Protocol,
  RequestFacts,
  RequestSubject,
  Run,
  RunAgentInput,
  RunContext,
  RunState,
  ServerTool,
  Session,
  SessionStore,
} from "@holodeck/agui-core";
export { copilotkit } from "@holodeck/agui-copilotkit";
export { agui } from "@holodeck/agui-protocol";
export { rest, threads } from "@holodeck/agui-rest";
export {
  bearerAuth,
  cors,
  fromAguiMiddleware,
  injectContext,
  logging,
  rateLimit,
  redact,
  runTimeout,
  safeEqual,
  suggestQuestions,
  telemetry,
  throttleDeltas,
  toolFilter,
} from "@holodeck/agui-middleware";
export { memorySessions } from "@holodeck/agui-sessions";
export { toVercelResponse, vercel } from "@holodeck/agui-vercel";
