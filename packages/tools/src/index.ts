export { createToolLoopAgent } from "./create-tool-loop-agent.ts";
export type { ToolLoopOptions } from "./create-tool-loop-agent.ts";
export { defineTool } from "./define-tool.ts";
export type {
  ClientToolOptions,
  DefinedTool,
  DefineToolOptions,
  ServerToolOptions,
} from "./define-tool.ts";
export type { JsonSchema } from "./json-schema.ts";
export { parametersToJsonSchema } from "./parameters.ts";
export type {
  ArgumentsOf,
  StandardIssue,
  StandardResult,
  StandardSchema,
  ToolParameter,
  ToolParameters,
} from "./parameters.ts";
export { toolFromFunction } from "./tool-from-function.ts";
export type { ToolFromFunctionOptions } from "./tool-from-function.ts";
export { isHalted, withDispose } from "@holodeck/agui-core";
