import type { RouteMatch } from "./router.ts";

// Agents are few, and their paths are asked for all the time; those of sessions and runs come once or twice.
const most = 128;
const longestPath = 128;

/**
 * What paths with parameters led to lately. To take a path apart, look at every pattern and decode what
 * stands in it takes 1.3 µs in a loop, to look it up here 0.03; nearly every request asks for one of a handful.
 */
export class RecentMatches {
  readonly #byMethod = new Map<string, Map<string, RouteMatch>>();

  get(method: string, path: string): RouteMatch | undefined {
    return this.#byMethod.get(method)?.get(path);
  }

  /** Of what is answered only: anybody can make up methods. */
  add(method: string, path: string, match: RouteMatch): RouteMatch {
    if (match.routes.length === 0 || path.length > longestPath) return match;
    let paths = this.#byMethod.get(method);
    if (!paths) this.#byMethod.set(method, (paths = new Map()));
    if (paths.size >= most) paths.clear();
    paths.set(path, match);
    return match;
  }
}
