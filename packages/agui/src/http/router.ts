import { AgentError } from "@holodeck/agui-core";
import type { Route } from "@holodeck/agui-core";

/** A route and where it came from. */
export interface MountedRoute {
  readonly route: Route;
  /** The name of its protocol. */
  readonly owner: string;
  /** Answers in every state of the handler. */
  readonly isAlways?: boolean;
}

export interface RouteMatch {
  /** In the order in which they are asked; the one without `claims` is last. */
  readonly routes: readonly MountedRoute[];
  readonly params: Readonly<Record<string, string>>;
  /** Why the parameters could not be read. The route answers it in its own form. */
  readonly fault?: AgentError;
  /** Every method of the path, for 405 and OPTIONS. */
  readonly allow: readonly string[];
  /** A route of the path for another method, where there is none for this one: it answers in its own form. */
  readonly other?: MountedRoute | undefined;
}

export interface Router {
  /** Returns undefined when no route has this path. */
  match(method: string, path: string): RouteMatch | undefined;
  readonly routes: readonly MountedRoute[];
}

interface Pattern {
  readonly segments: readonly string[];
  /** What the routes call the parameter of each segment; they need not agree. */
  readonly names: readonly Set<string>[];
  readonly methods: Map<string, MountedRoute[]>;
  /** What a fixed path answers, by method: the same every time. */
  readonly matches: Map<string, RouteMatch>;
}

const noParams: Readonly<Record<string, string>> = Object.freeze({});

/** Matches by path, then method. Throws when two routes cannot be distinguished. */
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
      if (exact) return fixedMatch(exact, method);
      if (open.length === 0) return undefined;
      const segments = path.split("/");
      for (const pattern of open) {
        if (!hasShape(pattern, segments)) continue;
        try {
          return toMatch(pattern, method, Object.freeze(readParams(pattern, segments)));
        } catch (fault) {
          return { ...toMatch(pattern, method, noParams), fault: fault as AgentError };
        }
      }
      return undefined;
    },
  };
}

/** False for a shared route whose place is taken by the same one of another protocol. */
function add(patterns: Map<string, Pattern>, mounted: MountedRoute): boolean {
  const { path, method, shared } = mounted.route;
  const shape = shapeOf(path);
  const segments = path.split("/");
  let pattern = patterns.get(shape);
  if (!pattern) {
    pattern = {
      segments,
      names: segments.map(() => new Set<string>()),
      methods: new Map(),
      matches: new Map(),
    };
    patterns.set(shape, pattern);
  }
  for (const [index, segment] of segments.entries()) {
    if (segment.startsWith(":")) pattern.names[index]!.add(segment.slice(1));
  }
  const list = pattern.methods.get(method) ?? [];
  if (shared && list.some(({ route }) => route.shared)) return false;
  list.push(mounted);
  pattern.methods.set(method, list);
  return true;
}

/** A path without the names of its parameters: they do not make two paths different. */
export function shapeOf(path: string): string {
  return path.replaceAll(/:[^/]+/g, ":");
}

function assertDistinct(place: string, list: MountedRoute[]): void {
  const rest = list.filter(({ route }) => !route.claims);
  if (rest.length > 1) {
    const names = rest.map(({ owner }) => `"${owner}"`).join(" and ");
    throw new TypeError(
      `${names} both serve ${place}, and neither selects its requests with claims(body). ` +
        `Give one of them another path.`,
    );
  }
  list.sort((a, b) => Number(!a.route.claims) - Number(!b.route.claims));
}

function fixedMatch(pattern: Pattern, method: string): RouteMatch {
  const known = pattern.matches.get(method);
  if (known) return known;
  const match = toMatch(pattern, method, noParams);
  // Only for answered requests: clients can make up any method.
  if (match.routes.length > 0) pattern.matches.set(method, match);
  return match;
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
  const routes = methods.get(wanted);
  if (routes) return { routes, params, allow };
  return { routes: [], params, allow, other: [...methods.values()].flat()[0] };
}

function hasShape({ segments: expected }: Pattern, segments: readonly string[]): boolean {
  if (expected.length !== segments.length) return false;
  for (let index = 0; index < expected.length; index++) {
    const isFixed = !expected[index]!.startsWith(":");
    if (isFixed ? expected[index] !== segments[index] : segments[index] === "") return false;
  }
  return true;
}

/** Throws for a segment that cannot be decoded. */
function readParams({ names }: Pattern, segments: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (let index = 0; index < segments.length; index++) {
    if (names[index]!.size === 0) continue;
    const value = decode(segments[index]!);
    for (const name of names[index]!) params[name] = value;
  }
  return params;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw new AgentError(
      "invalid-request",
      `The path segment "${segment}" is not valid percent-encoding.`,
      {
        cause,
      },
    );
  }
}
