import { AgentError } from "@holodeck/agui-core";
import type { Protocol, Route } from "@holodeck/agui-core";

/** A route and the protocol it came from. */
export interface MountedRoute {
  readonly route: Route;
  readonly protocol: Protocol;
}

export interface RouteMatch {
  /** In the order in which they are asked; the one without `claims` is last. */
  readonly routes: readonly MountedRoute[];
  readonly params: Readonly<Record<string, string>>;
  /** Every method of the path, for 405 and OPTIONS. */
  readonly allow: readonly string[];
}

export interface Router {
  /** Nothing: no route of ours has this path. */
  match(method: string, path: string): RouteMatch | undefined;
  readonly routes: readonly MountedRoute[];
}

interface Pattern {
  readonly segments: readonly string[];
  readonly methods: Map<string, MountedRoute[]>;
}

/** Matches by path, then method. Throws when two routes could not be told apart. */
export function createRouter(routes: readonly MountedRoute[]): Router {
  const patterns = new Map<string, Pattern>();
  const mountedRoutes = routes.filter((mounted) => add(patterns, mounted));
  const fixed = new Map<string, Pattern>();
  const open: Pattern[] = [];
  for (const [path, pattern] of patterns) {
    pattern.methods.forEach((list, method) => assertDistinct(`${method} ${path}`, list));
    if (pattern.segments.some((segment) => segment.startsWith(":"))) open.push(pattern);
    else fixed.set(path, pattern);
  }

  return {
    routes: mountedRoutes,
    match(method, rawPath) {
      const path = rawPath.length > 1 && rawPath.endsWith("/") ? rawPath.slice(0, -1) : rawPath;
      const exact = fixed.get(path);
      if (exact) return toMatch(exact, method, {});
      if (open.length === 0) return undefined;
      const segments = path.split("/");
      for (const pattern of open) {
        const params = matchSegments(pattern.segments, segments);
        if (params) return toMatch(pattern, method, params);
      }
      return undefined;
    },
  };
}

/** False for a shared route whose place is taken by the same one of another protocol. */
function add(patterns: Map<string, Pattern>, mounted: MountedRoute): boolean {
  const { path, method, shared } = mounted.route;
  // Parameter names do not make two paths different.
  const shape = path.replaceAll(/:[^/]+/g, ":");
  let pattern = patterns.get(shape);
  if (!pattern) {
    pattern = { segments: path.split("/"), methods: new Map() };
    patterns.set(shape, pattern);
  }
  const list = pattern.methods.get(method) ?? [];
  if (shared && list.some(({ route }) => route.shared)) return false;
  list.push(mounted);
  pattern.methods.set(method, list);
  return true;
}

function assertDistinct(place: string, list: MountedRoute[]): void {
  const rest = list.filter(({ route }) => !route.claims);
  if (rest.length > 1) {
    const names = rest.map(({ protocol }) => `"${protocol.name}"`).join(" and ");
    throw new TypeError(
      `${names} both answer ${place} and neither says with claims(body) which bodies are its own. ` +
        `Give one of them another path.`,
    );
  }
  list.sort((a, b) => Number(!a.route.claims) - Number(!b.route.claims));
}

function toMatch(
  { methods }: Pattern,
  method: string,
  params: Readonly<Record<string, string>>,
): RouteMatch {
  const allow = [...methods.keys()];
  if (methods.has("GET")) allow.push("HEAD");
  allow.push("OPTIONS");
  const wanted = method === "HEAD" ? "GET" : method;
  return { routes: methods.get(wanted) ?? [], params, allow };
}

function matchSegments(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const actual = segments[index]!;
    if (!expected.startsWith(":")) {
      if (expected !== actual) return undefined;
    } else {
      if (actual === "") return undefined;
      params[expected.slice(1)] = decode(actual);
    }
  }
  return params;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw new AgentError(
      "invalid-request",
      `The path segment "${segment}" is not encoded rightly.`,
      {
        cause,
      },
    );
  }
}
