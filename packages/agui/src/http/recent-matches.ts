import type { RouteMatch } from "./router.ts";

// Agents are few, and their paths are asked for all the time; those of sessions and runs come once or twice.
const most = 128;
const longestPath = 128;

/**
 * Recent matches of paths with parameters. A lookup here is much cheaper than splitting a path, trying every
 * pattern and decoding the segments, and nearly all requests use a few paths.
 */
export class RecentMatches {
  readonly #byMethod = new Map<string, Map<string, RouteMatch>>();

  get(method: string, path: string): RouteMatch | undefined {
    return this.#byMethod.get(method)?.get(path);
  }

  /** Only for answered requests: clients can make up any method. */
  add(method: string, path: string, match: RouteMatch): RouteMatch {
    if (match.routes.length === 0 || path.length > longestPath) return match;
    let paths = this.#byMethod.get(method);
    if (!paths) this.#byMethod.set(method, (paths = new Map()));
    if (paths.size >= most) paths.clear();
    paths.set(path, match);
    return match;
  }
}
