import { AgentError, isAgentError, isHalted } from "../contract/errors.ts";
import { questionOf } from "./approval.ts";

/** Why a call cannot be made at all: no such tool, or arguments that are not JSON. */
export function findCallFault(
  tools: readonly { readonly name: string }[],
  name: string,
  args: unknown,
): AgentError | undefined {
  if (!tools.some((tool) => tool.name === name)) {
    const known = tools.map((tool) => `"${tool.name}"`).join(", ") || "none";
    return new AgentError("unknown-tool", `There is no tool "${name}". Known: ${known}.`);
  }
  if (isJson(args)) return undefined;
  return new AgentError("invalid-arguments", `The arguments of "${name}" are not JSON.`);
}

/** What a tool has thrown, as the agent and the client receive it. */
export function toToolError(name: string, cause: unknown): AgentError {
  if (isHalted(cause)) {
    const why = `The tool "${name}" made a call that waits for the client; only an agent can do that.`;
    return new AgentError("tool-error", why, { cause });
  }
  if (questionOf(cause)) {
    return new AgentError("tool-error", `The tool "${name}" asked a second time.`, { cause });
  }
  if (isAgentError(cause)) return cause;
  return new AgentError("tool-error", `The tool "${name}" failed.`, { cause });
}

function isJson(value: unknown): boolean {
  try {
    return value === undefined || JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}
