export { bearerAuth } from "./bearer-auth.ts";
export type { BearerAuth, BearerAuthOptions } from "./bearer-auth.ts";
export { cors } from "./cors.ts";
export type { CorsOptions } from "./cors.ts";
export { logging } from "./logging.ts";
export type { LoggingOptions } from "./logging.ts";
export { safeEqual } from "./safe-equal.ts";
export { toolFilter } from "./tool-filter.ts";
export type { ToolFilterOptions, ToolNames } from "./tool-filter.ts";
