import { AgentError, isAgentError } from "../contract/errors.ts";
import { ulid } from "../base/ids.ts";

/** A refusal, ready to be sent: RFC 9457 problem details. */
export interface Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ProblemOptions {
  /** The requested path. */
  instance?: string;
  /** By default a new id. */
  requestId?: string;
  /** What `type` starts with. By default `https://holodeck.dev/errors/`. */
  typeBase?: string | undefined;
}

/**
 * Turns an error into problem details. Any error other than `AgentError` becomes a 500 without
 * details.
 */
export function toProblem(error: unknown, options: ProblemOptions = {}): Problem {
  const known = isAgentError(error) ? error : masked(error);
  const { code, status, message, errors, retryAfter } = known;
  const body = JSON.stringify({
    type: `${options.typeBase ?? "https://holodeck.dev/errors/"}${code}`,
    title: title(code),
    status,
    detail: message,
    // The only field CopilotKit shows.
    message,
    instance: options.instance,
    code,
    requestId: options.requestId ?? ulid(),
    errors,
  });
  return {
    status,
    headers: {
      ...known.headers,
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...(retryAfter === undefined ? undefined : { "retry-after": String(retryAfter) }),
    },
    body,
  };
}

function masked(cause: unknown): AgentError {
  return new AgentError("internal", "The server failed to handle this request.", { cause });
}

function title(code: string): string {
  const words = code.slice(code.indexOf("/") + 1).split("-");
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(" ");
}
