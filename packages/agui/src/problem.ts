import { AgentError, isAgentError } from "@holodeck/agui-core";
import type { Logger, Reply } from "@holodeck/agui-core";

const typeBase = "https://holodeck.dev/errors/";

const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  409: "Conflict",
  410: "Gone",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** Where a problem happened. */
export interface ProblemPlace {
  /** The path of the request. */
  readonly instance: string;
  readonly requestId: string;
}

/** An error as RFC 9457 problem details. */
export function problemReply(error: AgentError, { instance, requestId }: ProblemPlace): Reply {
  const { code, status, message, retryAfter, errors } = error;
  const body = {
    type: typeBase + code,
    title: titles[status] ?? "Error",
    status,
    detail: message,
    // CopilotKit shows this field and no other.
    message,
    instance,
    code,
    requestId,
    ...(errors ? { errors } : {}),
  };
  return {
    status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
      ...error.headers,
    },
    body: JSON.stringify(body),
  };
}

/** Our own errors speak for themselves; anything else is logged and masked as `internal`. */
export function toAgentError(
  error: unknown,
  options: { logger: Logger; requestId: string; debug: boolean },
): AgentError {
  if (isAgentError(error)) return error;
  const { logger, requestId, debug } = options;
  logger.error({ error, requestId }, "A request failed.");
  const detail = debug && error instanceof Error ? error.message : "Something went wrong here.";
  return new AgentError("internal", detail, { cause: error });
}
