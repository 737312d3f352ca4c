import { AgentError } from "../contract/errors.ts";
import type { Exchange } from "../contract/exchange.ts";

type Sent = Pick<Exchange, "header">;

/**
 * Refuses a form that a page of another site sent: browsers let it do that without asking, and with
 * the user's cookies. A header that no form can send makes them ask first, so then CORS has decided.
 */
export function assertOwnForm(call: Sent): void {
  if (isOwnPage(call) || isAskedFor(call)) return;
  throw refusal("form");
}

/**
 * The same for a request that changes something, with any body or none. DELETE and PATCH are treated like POST: browsers
 * ask before them, but a host may make them of a form's POST.
 */
export function assertOwnRequest(request: Sent): void {
  if (isOwnPage(request) || isAskedFor(request) || hasJsonType(request)) return;
  throw refusal("request");
}

function refusal(what: string): AgentError {
  return new AgentError(
    "forbidden",
    `A cross-origin ${what} needs the header X-Requested-With or a bearer token.`,
  );
}

/** Whether a request comes from a page of the same origin, or not from a browser. */
export function isOwnPage(request: Sent): boolean {
  const site = request.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin" || site === "none";
  const origin = request.header("origin");
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const { host } = new URL(origin);
  // No form can send the header of a proxy that changes the host.
  return host === request.header("host") || host === request.header("x-forwarded-host");
}

// Basic credentials do not count: a browser that has them sends them along by itself.
function isAskedFor(request: Sent): boolean {
  const hasToken = /^bearer\s/i.test(request.header("authorization") ?? "");
  return hasToken || request.header("x-requested-with") !== undefined;
}

function hasJsonType(request: Sent): boolean {
  return isJsonType(request.header("content-type"));
}

/** Whether a content type is JSON, which browsers ask for before a page of another site may send it. */
export function isJsonType(contentType: string | undefined): boolean {
  if (contentType === "application/json") return true;
  const type = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return type === "application/json" || /^application\/[\w.+-]+\+json$/.test(type);
}
