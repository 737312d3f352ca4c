import { AgentError } from "@holodeck/agui-core";
import { describeValue, isPromise } from "@holodeck/agui-core/internal";
import type { AgentRequest, Principal } from "@holodeck/agui-core";
import type { Settings } from "../options/options.ts";

type AuthenticateSettings = Pick<Settings, "authenticate" | "clock" | "limits">;

/** The principal of a request. Throws `authentication-required` when there is none. */
export async function authenticate(
  request: AgentRequest,
  settings: AuthenticateSettings,
): Promise<Principal> {
  const asked = settings.authenticate?.(request);
  const principal = await (isPromise(asked) ? inTime(asked, settings) : asked);
  if (principal) return assertPrincipal(principal);
  throw new AgentError("authentication-required", "Authentication is required.", {
    headers: { "www-authenticate": "Bearer" },
  });
}

// An identity provider that never responds would otherwise accumulate requests.
async function inTime<T>(
  work: PromiseLike<T>,
  { clock, limits }: AuthenticateSettings,
): Promise<T> {
  let timer: unknown;
  const late = new Promise<never>((_, reject) => {
    const message = "Authentication timed out.";
    const error = new AgentError("timeout", message, { status: 503, retryAfter: 5 });
    timer = clock.setTimeout(() => reject(error), limits.authenticateMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clock.clearTimeout(timer);
  }
}

// A caller without an id would share the threads of all other callers without one.
function assertPrincipal(principal: Principal): Principal {
  if (typeof principal.id === "string" && principal.id !== "") return principal;
  throw new TypeError(
    `authenticate must return { id: string } or null, not ${describeValue(principal)}.`,
  );
}
