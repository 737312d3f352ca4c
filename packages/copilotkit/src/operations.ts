import type { Route } from "@holodeck/agui-core";

export function describeRoute(route: Route, _base: string): Route {
  return route;
}
