export { bearerAuth } from "./bearer-auth.ts";
export type { BearerAuth, BearerAuthOptions } from "./bearer-auth.ts";
export { cors } from "./cors.ts";
export type { CorsOptions } from "./cors.ts";
export { fromAguiMiddleware } from "./from-agui-middleware.ts";
export type { AguiMiddleware, NextAgent } from "./from-agui-middleware.ts";
export { injectContext } from "./inject-context.ts";
export type {
  ContextProvider,
  ContextQuery,
  InjectContextOptions,
  ProvidedContext,
} from "./inject-context.ts";
export { logging } from "./logging.ts";
export type { LoggingOptions } from "./logging.ts";
export { rateLimit } from "./rate-limit.ts";
export type { RateLimitOptions } from "./rate-limit.ts";
export { redact } from "./redact/redact.ts";
export type { RedactOptions } from "./redact/redact.ts";
export { runTimeout } from "./run-timeout.ts";
export type { RunTimeoutOptions } from "./run-timeout.ts";
export { safeEqual } from "./safe-equal.ts";
export { suggestQuestions } from "./suggest-questions.ts";
export type { SuggestQuery, SuggestQuestionsOptions } from "./suggest-questions.ts";
export { telemetry } from "./telemetry/telemetry.ts";
export type { TelemetryOptions } from "./telemetry/telemetry.ts";
export { throttleDeltas } from "./throttle-deltas.ts";
export type { ThrottleDeltasOptions } from "./throttle-deltas.ts";
export { toolFilter } from "./tool-filter.ts";
export type { ToolFilterOptions, ToolNames } from "./tool-filter.ts";
