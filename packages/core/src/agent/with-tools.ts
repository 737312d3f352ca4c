import type { RunAgentInput } from "@ag-ui/core";
import { declaredIn, deskOf, modeOf, withToolsOf } from "./context.ts";
import { dropClaims } from "../tools/claims.ts";
import { settleTools, splitTools } from "../tools/definitions.ts";
import type { RunContext } from "../contract/context.ts";
import type { ServerTool } from "../contract/tools.ts";

/**
 * The input and context of an agent that brings its own tools; they come before the handler's.
 *
 * @example
 * ```ts
 * const own = withTools(input, context, [weather]);
 * await own.context.callTool("weather", { city: "Bern" });
 * ```
 */
export function withTools(
  input: RunAgentInput,
  context: RunContext,
  tools: readonly ServerTool[],
): { input: RunAgentInput; context: RunContext } {
  const { server, client } = splitTools(tools);
  const { runId, logger } = context;
  const names = new Set(tools.map(({ name }) => name));
  const isOthers = ({ name }: ServerTool): boolean => !names.has(name);
  const offered = settleTools(input, { runId, tools, logger });
  const settled = settleClaims(
    offered,
    context,
    server.map(({ name }) => name),
  );
  const derived = withToolsOf(context, {
    tools: [...server, ...context.tools.filter(isOthers)],
    declared: [...client, ...declaredIn(context).filter(isOthers)],
    input: settled,
  });
  if (server.length > 0) deskOf(derived).bring(server);
  return { input: settled, context: derived };
}

/** The input of an agent that runs these tools itself: what a client claims of them is dropped. */
export function settleClaims(
  input: RunAgentInput,
  context: RunContext,
  names: readonly string[],
): RunAgentInput {
  if (names.length === 0) return input;
  const mode = modeOf(context);
  mode.knowTools?.(names);
  const { claimed } = mode;
  if (!claimed?.size) return input;
  return dropClaims(input, { claimed, serverTools: new Set(names) }, context);
}
