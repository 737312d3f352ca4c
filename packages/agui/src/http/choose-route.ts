import { AgentError } from "@holodeck/agui-core";
import type { Exchange, Reply } from "@holodeck/agui-core";
import { shapeOf } from "./router.ts";
import type { MountedRoute } from "./router.ts";

// A protocol's route takes precedence over the handler's own on the same path.
export function yieldTo(
  protocolRoutes: readonly MountedRoute[],
  own: readonly MountedRoute[],
): MountedRoute[] {
  const place = ({ route }: MountedRoute): string => `${route.method} ${shapeOf(route.path)}`;
  const taken = new Set(protocolRoutes.map(place));
  return own.filter((one) => !taken.has(place(one)));
}

/**
 * Returns undefined when none of the routes matches the query. The URL is parsed only for routes
 * that look at it.
 */
export function wantedOf(
  routes: readonly MountedRoute[],
  exchange: Exchange,
): readonly MountedRoute[] | undefined {
  if (routes.length === 1 ? !routes[0]!.route.wants : !routes.some(isChoosy)) return routes;
  const query = new URLSearchParams(exchange.query);
  const wanted = routes.filter(({ route }) => route.wants?.(query) ?? true);
  return wanted.length > 0 ? wanted : undefined;
}

function isChoosy({ route }: MountedRoute): boolean {
  return route.wants !== undefined;
}

export function notFound({ method, path }: Exchange): AgentError {
  return new AgentError("not-found", `No route matches ${method} ${path}.`);
}

export function notUnderstood(
  { method, path }: Exchange,
  routes: readonly MountedRoute[],
): AgentError {
  const names = routes.map(({ owner }) => owner).join(" and ");
  const message = `No protocol recognizes this body; ${method} ${path} is served by ${names}.`;
  return new AgentError("invalid-request", message);
}

/** The reply to OPTIONS. Throws `method-not-allowed` for any other method that no route of the path has. */
export function answerOptions(method: string, allow: readonly string[]): Reply {
  const headers = { allow: allow.join(", ") };
  if (method === "OPTIONS") return { status: 204, headers };
  const message = `${method} is not allowed here; use ${headers.allow}.`;
  throw new AgentError("method-not-allowed", message, { headers });
}
