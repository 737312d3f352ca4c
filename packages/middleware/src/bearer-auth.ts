import { AgentError } from "@holodeck/agui-core";
import { assertOptions, describeValue } from "@holodeck/agui-core/internal";
import type { AgentRequest, Awaitable, HandlerMiddleware, Principal } from "@holodeck/agui-core";

export interface BearerAuthOptions {
  /**
   * Whose token this is; null refuses it with 401. What it throws is a failure of the server (500),
   * unless it is an `AgentError`: a library that throws for bad tokens needs a `catch`.
   */
  verify: (token: string, request: AgentRequest) => Awaitable<Principal | null>;
  /** Named in `WWW-Authenticate`. By default none. */
  realm?: string;
}

/**
 * Middleware that authenticates requests; its `authenticate` can be passed as the handler's option
 * of that name.
 */
export interface BearerAuth extends HandlerMiddleware {
  readonly authenticate: (request: AgentRequest) => Promise<Principal>;
}

// RFC 6750, section 2.1.
const credentials = /^Bearer +([\w.~+/-]+=*) *$/i;

/**
 * Requires `Authorization: Bearer <token>` on all routes except health: the owner of the token is
 * `context.principal`, and owns the threads.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, {
 *   middleware: [bearerAuth({ verify: async (token) => findUserByToken(token) })],
 * });
 * ```
 */
export function bearerAuth(options: BearerAuthOptions): BearerAuth {
  assertOptions("bearerAuth", options, ["verify", "realm"]);
  const { verify, realm } = options;
  if (typeof verify !== "function") {
    throw new TypeError(
      `bearerAuth expects { verify: (token) => ({ id }) or null }, not ${describeValue(verify)}.`,
    );
  }
  if (realm !== undefined && (typeof realm !== "string" || !/^[ !#-[\]-~]+$/.test(realm))) {
    throw new TypeError(
      `bearerAuth's realm must be plain text without quotes, not ${describeValue(realm)}.`,
    );
  }

  function refusal(message: string, error?: string): AgentError {
    const parts = [
      ...(realm === undefined ? [] : [`realm="${realm}"`]),
      ...(error === undefined ? [] : [`error="${error}"`]),
    ];
    const challenge = parts.length > 0 ? `Bearer ${parts.join(", ")}` : "Bearer";
    return new AgentError("authentication-required", message, {
      headers: { "www-authenticate": challenge },
    });
  }

  async function authenticate(request: AgentRequest): Promise<Principal> {
    const header = request.headers.get("authorization");
    // RFC 6750, section 3.1: a request without a token receives no error code.
    if (header === null || !/^Bearer\b/i.test(header)) {
      throw refusal("An Authorization header with a bearer token is required.");
    }
    const token = credentials.exec(header)?.[1];
    const principal = token === undefined ? null : await verify(token, request);
    if (!principal) throw refusal("The bearer token is not valid.", "invalid_token");
    return principal;
  }

  return { name: "bearerAuth", authenticate };
}
