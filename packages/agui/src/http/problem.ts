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

/**
 * Our own errors are answered as they are, and logged when the server is at fault; anything else is logged
 * and masked as `internal`.
 */
export function toAgentError(
  error: unknown,
  options: { logger: Logger; requestId: string; debug: boolean },
): AgentError {
  const { logger, requestId, debug } = options;
  if (isAgentError(error)) {
    // Not what a server under load, or one that closes, refuses on purpose; nor a client that has left.
    const isFault = error.code === "store-unavailable" || error.cause !== undefined;
    const isServers = error.status >= 500 && error.code !== "disconnected";
    if (isServers && isFault) logger.error({ error, requestId }, "A request failed.");
    return error;
  }
  logger.error({ error, requestId }, "A request failed.");
  const detail =
    debug && error instanceof Error ? error.message : "The server failed to handle the request.";
  return new AgentError("internal", detail, { cause: error });
}
