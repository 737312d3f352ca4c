import { assertOptions, describeValue } from "@holodeck/agui-core/internal";
import type { AgentRequest, HandlerMiddleware, Reply, RequestFacts } from "@holodeck/agui-core";

export interface CorsOptions {
  /**
   * Who may read the responses: `"*"` for all origins, origins such as `"https://app.example.com"`
   * in a list or separated by commas, or a function.
   */
  origins: string | readonly string[] | ((origin: string) => boolean);
  /** Whether cookies and HTTP authentication go along; not together with `"*"`. By default false. */
  credentials?: boolean;
  /** Methods a browser may use. By default every one that a protocol here can have. */
  methods?: readonly string[];
  /** Request headers a browser may send. By default those it asks for. */
  headers?: readonly string[];
  /** Response headers that scripts may read, besides those that clients of this library need. */
  exposeHeaders?: readonly string[];
  /** How long a browser remembers the answer to a preflight. By default 600 s. */
  maxAgeSeconds?: number;
}

const known = ["origins", "credentials", "methods", "headers", "exposeHeaders", "maxAgeSeconds"];

const allMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

// What a client cannot do its work without: ids to come back to a run, and when to try again.
const neededHeaders = [
  "X-Request-Id",
  "X-Run-Id",
  "X-Thread-Id",
  "X-Session-Id",
  "Retry-After",
  "RateLimit",
  "RateLimit-Policy",
  "WWW-Authenticate",
  "X-Vercel-AI-Data-Stream",
  "X-Vercel-AI-UI-Message-Stream",
  "X-Workflow-Run-Id",
  "X-Workflow-Stream-Tail-Index",
];

const token = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Allows browsers on other origins to use the handler: preflights are answered, and every other
 * response, including errors, has the headers that allow reading it.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, {
 *   middleware: [cors({ origins: ["https://app.example.com"], credentials: true })],
 * });
 * ```
 */
export function cors(
  options: CorsOptions,
): HandlerMiddleware & Required<Pick<HandlerMiddleware, "request">> {
  assertOptions("cors", options, known);
  const { credentials = false, maxAgeSeconds = 600, methods = allMethods } = options;
  const isAllowed = toRule(options.origins);
  if (isAllowed === "*" && credentials) {
    throw new TypeError(
      'cors cannot pair origins "*" with credentials: any page could then act as its visitor. ' +
        'List the origins, like { origins: ["https://app.example.com"], credentials: true }.',
    );
  }
  if (typeof maxAgeSeconds !== "number" || !(maxAgeSeconds >= 0)) {
    throw new TypeError(
      `cors's maxAgeSeconds must be a number of seconds, not ${describeValue(maxAgeSeconds)}.`,
    );
  }
  const allowMethods = toList("methods", methods);
  const allowHeaders = options.headers && toList("headers", options.headers);
  const exposed = [...neededHeaders, ...(options.exposeHeaders ?? [])];
  const exposeHeaders = toList("exposeHeaders", exposed);

  function grant(origin: string | null): Record<string, string> {
    if (isAllowed === "*") return { "access-control-allow-origin": "*" };
    // "null" is the origin of every sandboxed frame and local file: it cannot be allowed
    // selectively.
    if (origin === null || origin === "null") return {};
    // Exactly true: the promise of an asynchronous rule would allow every origin.
    if ((isAllowed(origin) as unknown) !== true) return {};
    return {
      "access-control-allow-origin": origin,
      ...(credentials && { "access-control-allow-credentials": "true" }),
    };
  }

  function preflight(granted: Record<string, string>, asked: string | null): Reply {
    const vary = isAllowed === "*" ? [] : ["Origin"];
    if (!allowHeaders) vary.push("Access-Control-Request-Headers");
    const headers = { ...(vary.length > 0 && { vary: vary.join(", ") }) };
    if (Object.keys(granted).length === 0) return { status: 204, headers };
    const names = allowHeaders ?? echo(asked);
    return {
      status: 204,
      headers: {
        ...headers,
        ...granted,
        "access-control-allow-methods": allowMethods,
        ...(names !== "" && { "access-control-allow-headers": names }),
        "access-control-max-age": String(Math.floor(maxAgeSeconds)),
      },
    };
  }

  async function request(
    { method, headers }: AgentRequest,
    next: () => Promise<Reply>,
    facts?: RequestFacts,
  ): Promise<Reply> {
    const granted = grant(headers.get("origin"));
    const isReadable = Object.keys(granted).length > 0;
    if (method === "OPTIONS" && headers.has("access-control-request-method")) {
      return preflight(granted, headers.get("access-control-request-headers"));
    }
    if (facts && isReadable) facts.isAllowedOrigin = isAllowed !== "*" || !isPersonal(headers);
    const reply = await next();
    return {
      ...reply,
      headers: {
        ...(isAllowed === "*" ? reply.headers : varyByOrigin(reply.headers)),
        ...granted,
        ...(isReadable && { "access-control-expose-headers": exposeHeaders }),
      },
    };
  }

  return { name: "cors", request };
}

// What a browser adds by itself: all origins may act, but none as its visitor.
function isPersonal(headers: Headers): boolean {
  return headers.has("cookie") || headers.has("authorization");
}

type Rule = "*" | ((origin: string) => boolean);

function toRule(origins: unknown): Rule {
  if (typeof origins === "function") return origins as (origin: string) => boolean;
  const list = typeof origins === "string" ? origins.split(",").map((one) => one.trim()) : origins;
  if (!Array.isArray(list) || list.length === 0) {
    throw new TypeError(
      `cors's origins must be "*", a list like ["https://app.example.com"] or a function, ` +
        `not ${Array.isArray(list) ? "an empty list" : describeValue(origins)}.`,
    );
  }
  if (list.includes("*")) return "*";
  for (const one of list) assertOrigin(one);
  const set = new Set<unknown>(list);
  return (origin) => set.has(origin);
}

// An origin with a path, a slash at its end or a wildcard would never match, silently.
function assertOrigin(value: unknown): void {
  if (typeof value === "string" && toOrigin(value) === value) return;
  throw new TypeError(
    `cors's origins must be scheme and host, like "https://app.example.com", ` +
      `not ${describeValue(value)}. For a pattern, pass a function.`,
  );
}

function toOrigin(value: string): string | undefined {
  try {
    const { protocol, host } = new URL(value);
    return `${protocol}//${host}`.includes("*") ? undefined : `${protocol}//${host}`;
  } catch {
    return undefined;
  }
}

function toList(option: string, names: unknown): string {
  if (Array.isArray(names) && names.every((one) => typeof one === "string" && token.test(one))) {
    return names.join(", ");
  }
  throw new TypeError(
    `cors's ${option} must be a list of names, like ["X-Trace"], not ${JSON.stringify(names)}.`,
  );
}

// Only names: what a client sends never reaches a header of ours unread.
function echo(asked: string | null): string {
  const names = (asked ?? "").split(",").map((name) => name.trim());
  return names.filter((name) => token.test(name)).join(", ");
}

function varyByOrigin(headers: Reply["headers"] = {}): Record<string, string> {
  const rest: Record<string, string> = {};
  const vary: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() === "vary") vary.push(value);
    else rest[name] = value;
  }
  const names = vary.flatMap((value) => value.split(",")).map((one) => one.trim());
  if (!names.some((one) => one === "*" || one.toLowerCase() === "origin")) vary.push("Origin");
  return { ...rest, vary: vary.join(", ") };
}
