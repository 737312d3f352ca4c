import { AgentError } from "../contract/errors.ts";
import type { Call } from "../contract/protocol.ts";

/**
 * Refuses a form that a page of another site sent: browsers let it do that without asking, and with
 * the user's cookies. A header that no form can send makes them ask first, so then CORS has decided.
 */
export function assertOwnForm(call: Pick<Call, "header">): void {
  if (isOwnPage(call) || isAskedFor(call)) return;
  throw new AgentError(
    "forbidden",
    "A cross-origin form needs the header X-Requested-With or a bearer token.",
  );
}

function isOwnPage(call: Pick<Call, "header">): boolean {
  const site = call.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin" || site === "none";
  const origin = call.header("origin");
  if (origin === undefined) return true;
  return URL.canParse(origin) && new URL(origin).host === call.header("host");
}

// Basic credentials do not count: a browser that has them sends them along by itself.
function isAskedFor(call: Pick<Call, "header">): boolean {
  const hasToken = /^bearer\s/i.test(call.header("authorization") ?? "");
  return hasToken || call.header("x-requested-with") !== undefined;
}
