import { AgentError, isAgentError, toProblem } from "@holodeck/agui-core";
import type { Logger, Reply } from "@holodeck/agui-core";

export interface RequestPlace {
  /** The path of the request. */
  readonly instance: string;
  readonly requestId: string;
  readonly typeBase?: string | undefined;
}

/** An error as a reply of RFC 9457 problem details. */
export function problemReply(error: AgentError, place: RequestPlace): Reply {
  return toProblem(error, place);
}

/** Our own errors speak for themselves; anything else is logged and masked as `internal`. */
export function toAgentError(
  error: unknown,
  options: { logger: Logger; requestId: string; debug: boolean },
): AgentError {
  if (isAgentError(error)) return error;
  const { logger, requestId, debug } = options;
  logger.error({ error, requestId }, "A request failed.");
  const detail = debug && error instanceof Error ? error.message : "The server failed to answer.";
  return new AgentError("internal", detail, { cause: error });
}
