import { AgentError } from "@holodeck/agui-core";
import { describeValue, isPromise, withDeadline } from "@holodeck/agui-core/internal";
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
function inTime<T>(work: Promise<T>, { clock, limits }: AuthenticateSettings): Promise<T> {
  const late = (): Error =>
    new AgentError("timeout", "Authentication timed out.", { status: 503, retryAfter: 5 });
  return withDeadline(work, { ms: limits.authenticateMs, clock, late });
}

// A caller without an id would share the threads of all other callers without one.
function assertPrincipal(principal: Principal): Principal {
  if (typeof principal.id === "string" && principal.id !== "") return principal;
  throw new TypeError(
    `authenticate must return { id: string } or null, not ${describeValue(principal)}.`,
  );
}
