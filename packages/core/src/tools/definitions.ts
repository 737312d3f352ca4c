import type { RunAgentInput, Tool } from "@ag-ui/core";
import { describeValue } from "../base/options.ts";
import type { AgentLike } from "../contract/agent.ts";
import type { Logger } from "../contract/context.ts";
import type { ServerTool } from "../contract/tools.ts";

const example = "{ name, description, parameters, invoke(args) {} }";

/** Throws unless these are tools with unique names; the message names the wrong one. */
export function assertTools(option: string, tools: unknown): asserts tools is ServerTool[] {
  if (!Array.isArray(tools)) {
    throw new TypeError(
      `${option} must be an array, like [${example}], not ${describeValue(tools)}.`,
    );
  }
  const names = new Map<string, number>();
  for (const [index, tool] of tools.entries()) {
    const { name, invoke } = (tool ?? {}) as { name?: unknown; invoke?: unknown };
    const at = `${option}[${index}]`;
    if (typeof invoke !== "function") {
      throw new TypeError(
        `${at} must be an object with invoke, like ${example}, not ${describeValue(tool)}.`,
      );
    }
    if (typeof name !== "string" || name === "") {
      throw new TypeError(`${at}.name must be the name of a tool, not ${describeValue(name)}.`);
    }
    const first = names.get(name);
    if (first !== undefined) {
      throw new TypeError(
        `${at} is named "${name}", like ${option}[${first}]; tool names must be unique.`,
      );
    }
    names.set(name, index);
  }
}

interface SplitTools {
  readonly server: readonly ServerTool[];
  readonly client: readonly ServerTool[];
}

const noTools: readonly ServerTool[] = Object.freeze([]);
const nothingSplit: SplitTools = { server: noTools, client: noTools };

/** Tools by where they run. */
export function splitTools(tools: readonly ServerTool[] = noTools): SplitTools {
  if (tools.length === 0) return nothingSplit;
  return {
    server: tools.filter(({ location }) => location !== "client"),
    client: tools.filter(({ location }) => location === "client"),
  };
}

/**
 * The input with the tools that the client really has: for those the server declares, its
 * declaration is used, and no client may replace a server tool.
 */
export function settleTools(
  input: RunAgentInput,
  options: { runId: string; tools?: readonly ServerTool[]; logger: Logger },
): RunAgentInput {
  const { runId, tools: own = noTools, logger } = options;
  if (own.length === 0) return input;
  const { server, client } = splitTools(own);
  const offered = new Set(input.tools.map(({ name }) => name));
  const taken = server.map(({ name }) => name).filter((name) => offered.has(name));
  if (taken.length > 0) {
    logger.warn(
      { runId, tools: taken },
      "The client sent tools with the names of server tools; the server's are used.",
    );
  }
  if (taken.length === 0 && client.length === 0) return input;
  const known = new Set(own.map(({ name }) => name));
  const rest = input.tools.filter(({ name }) => !known.has(name));
  return { ...input, tools: [...client.map(toDefinition), ...rest] };
}

const noNames: readonly string[] = Object.freeze([]);

/** The names of the tools that an agent runs itself, as far as it declares them. */
export function serverToolsOf(agent: AgentLike): readonly string[] {
  const { serverTools } = agent as { serverTools?: unknown };
  if (!Array.isArray(serverTools)) return noNames;
  return serverTools.filter((name): name is string => typeof name === "string");
}

/** AG-UI's definition of a tool, and nothing of ours. */
export function toDefinition({ name, description, parameters, metadata }: ServerTool): Tool {
  return {
    name,
    description,
    ...(parameters === undefined ? {} : { parameters: parameters as unknown }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}
