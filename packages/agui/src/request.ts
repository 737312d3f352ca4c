import { ulid } from "@holodeck/agui-core";
import type { Call, Exchange } from "@holodeck/agui-core";

/** What a route is given of a request; its URL is parsed only when asked for. */
export function toCall(
  exchange: Exchange,
  rest: Pick<Call, "params" | "body" | "principal" | "requestId">,
): Call {
  return {
    ...rest,
    get request() {
      return exchange.request;
    },
    get query() {
      return exchange.request.url.searchParams;
    },
    get signal() {
      return exchange.signal;
    },
    header: (name) => exchange.header(name),
    bytes: () => exchange.body(),
  };
}

/** The path below `base`; nothing when it is not below it. */
export function stripBase(path: string, base: string): string | undefined {
  if (base === "") return path;
  if (path === base) return "/";
  return path.startsWith(`${base}/`) ? path.slice(base.length) : undefined;
}

/** The caller's own id when it is harmless, so that its logs and ours can be joined; else a new one. */
export function toRequestId(given: string | undefined): string {
  return given !== undefined && /^[\w.:-]{1,128}$/.test(given) ? given : ulid();
}
