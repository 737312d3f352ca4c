/** Codes that end a request before any stream, each with its HTTP status. */
const requestStatus = {
  "invalid-request": 400,
  "authentication-required": 401,
  forbidden: 403,
  "agent-not-found": 404,
  "session-not-found": 404,
  "thread-not-found": 404,
  "run-not-found": 404,
  "file-not-found": 404,
  "unknown-execution": 404,
  "not-found": 404,
  "method-not-allowed": 405,
  "not-acceptable": 406,
  "thread-busy": 409,
  "run-exists": 409,
  "unknown-interrupt": 409,
  "already-answered": 409,
  "replay-gone": 410,
  "payload-too-large": 413,
  "session-too-large": 413,
  "unsupported-media-type": 415,
  "rate-limited": 429,
  "capacity-exceeded": 429,
  internal: 500,
  "not-ready": 503,
  "shutting-down": 503,
  "store-unavailable": 503,
} as const;

/**
 * Codes that only occur inside a run; over HTTP they are a 500 unless the error sets another
 * status.
 */
const streamCodes = [
  "agent-error",
  "timeout",
  "stopped",
  "disconnected",
  "replaced",
  "tool-error",
  "unknown-tool",
  "invalid-arguments",
  "approval-denied",
  "halted",
  "protocol-violation",
  "incomplete-stream",
  "event-too-large",
  "history-too-large",
  "run-lost",
  "run-ended",
] as const;

type KnownCode = keyof typeof requestStatus | (typeof streamCodes)[number];

/** One of the codes of this library, or a third party's `vendor/name`. */
export type AgentErrorCode = KnownCode | `${string}/${string}`;

export interface AgentErrorOptions {
  /** By default the status that belongs to the code. */
  status?: number;
  /** Whether the same request may succeed later. By default true for 429 and 503. */
  retryable?: boolean;
  /** Seconds for `Retry-After`. */
  retryAfter?: number;
  cause?: unknown;
  /** All faults, when there is more than one. */
  errors?: readonly Fault[];
  /** Further response headers, such as `Allow` or `WWW-Authenticate`. */
  headers?: Readonly<Record<string, string>>;
}

/** One fault in a request, and its place. */
export interface Fault {
  /** A dotted path, such as `messages.0.role`; empty for the whole body. */
  readonly path: string;
  readonly message: string;
}

/**
 * The only error class of this library. Its message is sent to the client; the message of any other
 * error is masked.
 *
 * @example
 * ```ts
 * throw new AgentError("rate-limited", "Try again in a minute.", { retryAfter: 60 });
 * ```
 */
export class AgentError extends Error {
  override readonly name = "AgentError";
  readonly code: AgentErrorCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly retryAfter: number | undefined;
  readonly errors: readonly Fault[] | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(code: AgentErrorCode, message: string, options: AgentErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status ?? (requestStatus as Record<string, number>)[code] ?? 500;
    this.retryable = options.retryable ?? (this.status === 429 || this.status === 503);
    this.retryAfter = options.retryAfter;
    this.errors = options.errors;
    this.headers = options.headers;
  }
}

/** True for `AgentError`, also from another installed copy of this package. */
export function isAgentError(value: unknown): value is AgentError {
  return value instanceof Error && value.name === "AgentError" && "code" in value;
}

/** True for what `callTool` throws when the run has to wait: not a failure, the run ends normally. */
export function isHalted(value: unknown): boolean {
  return isAgentError(value) && value.code === "halted";
}

/**
 * What a client may see of an error: the message of an `AgentError`, and a fixed text for any other
 * error.
 */
export function describeError(
  error: unknown,
  debug = false,
): { code: AgentErrorCode; message: string } {
  if (isAgentError(error)) return { code: error.code, message: error.message };
  if (debug && error instanceof Error) return { code: "agent-error", message: error.message };
  return { code: "agent-error", message: "The agent failed." };
}
