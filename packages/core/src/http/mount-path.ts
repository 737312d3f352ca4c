/**
 * The path below a mount, still encoded: `/v1/api/agui` under `/:version/api/*` is `/agui`.
 *
 * @example
 * ```ts
 * stripMount("/api/agui", "/api"); // "/agui"
 * ```
 */
export function stripMount(path: string, mount: string): string {
  // Segments are counted, not compared: a mount may hold parameters, and routers match case as they like.
  let rest = mount
    .replace(/\/?\*$/, "")
    .split("/")
    .filter(Boolean).length;
  let start = 0;
  for (; rest > 0; rest--) {
    start = path.indexOf("/", start + 1);
    if (start === -1) return "/";
  }
  return path.slice(start) || "/";
}
