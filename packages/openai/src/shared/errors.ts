import { AgentError, isAgentError } from "@holodeck/agui-core";
import type { AgentErrorCode, Reply } from "@holodeck/agui-core";

/** An error as clients of OpenAI's API read it. */
export interface OpenAiError {
  readonly message: string;
  readonly type: string;
  /** The member of the request that is wrong. */
  readonly param: string | null;
  readonly code: string | null;
}

/** The codes that OpenAI's clients know by another name. Any other is sent with `_` for `-`. */
const codes: Readonly<Partial<Record<AgentErrorCode, string | null>>> = {
  "invalid-request": null,
  "authentication-required": "invalid_api_key",
  forbidden: "insufficient_permissions",
  "agent-not-found": "model_not_found",
  "run-not-found": "response_not_found",
  "rate-limited": "rate_limit_exceeded",
  "capacity-exceeded": "rate_limit_exceeded",
  "payload-too-large": "request_too_large",
  internal: "server_error",
  "agent-error": "server_error",
};

const types: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  409: "conflict_error",
  429: "rate_limit_error",
};

/** The code that a client receives for one of ours. */
export function toErrorCode(code: string): string | null {
  const known = Object.hasOwn(codes, code) ? codes[code as AgentErrorCode] : undefined;
  return known === undefined ? code.replaceAll("-", "_") : known;
}

/** An error of a request or of a run, in OpenAI's form. */
function toOpenAiError({ code, message, status, errors }: AgentError): OpenAiError {
  const type = types[status] ?? (status >= 500 ? "server_error" : "invalid_request_error");
  const path = errors?.[0]?.path;
  return { message, type, param: path ? toParam(path) : null, code: toErrorCode(code) };
}

/** The reply to a request that is refused or has failed. */
export function errorReply(error: AgentError): Reply {
  const { status, retryable, retryAfter, headers } = error;
  return {
    status,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      // Some clients run a failed request again by themselves, and with it the agent.
      "x-should-retry": String(retryable),
      ...(retryAfter === undefined ? {} : { "retry-after": String(Math.ceil(retryAfter)) }),
      ...headers,
    },
    body: { error: toOpenAiError(error) },
  };
}

/** A refusal that names the wrong member of the request. */
export function invalidParam(path: string, text: string): AgentError {
  const message = `${toParam(path)} ${text}`;
  return new AgentError("invalid-request", message, { errors: [{ path, message }] });
}

// `messages.0.role` is `messages[0].role` there.
function toParam(path: string): string {
  return path.replaceAll(/\.(\d+)(?=\.|$)/g, "[$1]");
}

/** A run that failed after its first byte was sent. */
export function toRunFailure({ code, message }: { code: string; message: string }): OpenAiError {
  return { message, type: "server_error", param: null, code: toErrorCode(code) };
}

/** The agent's own error has more than the event of the run: its status and retry time. */
export function originalOf(error: AgentError): AgentError {
  return isAgentError(error.cause) ? error.cause : error;
}
