export { logging } from "./logging.ts";
export type { LoggingOptions } from "./logging.ts";
export { toolFilter } from "./tool-filter.ts";
export type { ToolFilterOptions, ToolNames } from "./tool-filter.ts";
