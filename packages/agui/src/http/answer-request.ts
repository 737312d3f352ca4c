import type { Awaitable, Call, Exchange, Principal, Reply } from "@holodeck/agui-core";
import { assertOwnRequest, isOwnPage } from "@holodeck/agui-core/internal";
import type { ByteBudget } from "@holodeck/agui-core/internal";
import { authenticate } from "./authenticate.ts";
import { toCall } from "./call.ts";
import type { RequestFindings } from "./call.ts";
import { answerOptions, notUnderstood } from "./choose-route.ts";
import { toAgentError } from "./problem.ts";
import { isMultipart, readJson } from "./read-json.ts";
import type { ReadBody } from "./read-json.ts";
import type { MountedRoute, RouteMatch } from "./router.ts";
import type { Settings } from "../options/options.ts";

/** A request and what may answer it. */
export interface AskedRequest extends RequestFindings {
  readonly exchange: Exchange;
  readonly routes: readonly MountedRoute[];
  readonly match: RouteMatch;
  readonly requestId: string;
  /** Which protocol answers, once that is known. */
  protocol: string | undefined;
  /** Whether middleware has allowed the origin that the request comes from. */
  isAllowedOrigin?: boolean;
  /** The caller, once it is authenticated. */
  principal: Principal | undefined;
}

interface AnswerOptions {
  readonly settings: Settings;
  /** What the bodies of all clients may take while they arrive. */
  readonly bodies: ByteBudget;
  /** Lets a request in, or throws why not. */
  admit(): Promise<void> | void;
  /** The reply to an error. */
  explain(exchange: Exchange, requestId: string, error: unknown): Reply;
}

/** The reply of the route that a request is for: admission, authentication, body, then the route. */
export async function answerRequest(asked: AskedRequest, options: AnswerOptions): Promise<Reply> {
  const { exchange, routes, match, requestId } = asked;
  const { settings, bodies, explain } = options;
  let call: Call | undefined;
  let chosen: MountedRoute | undefined;
  try {
    chosen = routes.length === 1 ? routes[0] : undefined;
    const entry = chosen?.isAlways ? undefined : options.admit();
    if (entry) await entry;
    if (routes.length === 0) {
      chosen = match.other;
      return answerOptions(exchange.method, match.allow);
    }
    if (match.fault) throw match.fault;
    if (!asked.isAllowedOrigin && isOpenToForms(asked)) assertOwnRequest(exchange);
    const isPublic = !settings.authenticate || routes.every(({ route }) => route.public);
    const principal = isPublic ? undefined : await authenticate(exchange.request, settings);
    asked.principal = principal;
    const read = hasBody(routes) ? await readBody(asked, settings, bodies) : undefined;
    const body = read?.value;
    const { params } = match;
    call = toCall(exchange, {
      params,
      body,
      bodyBytes: read?.bytes,
      principal,
      requestId,
      findings: asked,
    });
    chosen ??= claimedBy(routes, body);
    if (!chosen) throw notUnderstood(exchange, routes);
    asked.protocol = chosen.owner;
    return await chosen.route.handle(call);
  } catch (error) {
    const { fail, failsUnread } = chosen?.route ?? {};
    if (!fail || !(call || failsUnread)) return explain(exchange, requestId, error);
    const { logger, debug } = settings;
    call ??= toCall(exchange, {
      params: match.params,
      body: undefined,
      principal: undefined,
      requestId,
      findings: asked,
    });
    return fail(toAgentError(error, { logger, requestId, debug }), call);
  }
}

function claimedBy(routes: readonly MountedRoute[], body: unknown): MountedRoute | undefined {
  return routes.find(({ route }) => route.claims?.(body) ?? true);
}

// A body that must be JSON is guarded by its type; a parser in front may have taken one without a type.
function isOpenToForms({ exchange, routes }: AskedRequest): boolean {
  const { method } = exchange;
  if (method === "GET" || method === "HEAD") return false;
  // No form can send it.
  if (exchange.header("content-type") === "application/json") return false;
  for (const { route } of routes) if (route.body !== "json") return true;
  return exchange.header("content-type") === undefined && exchange.parsedBody !== undefined;
}

function hasBody(routes: readonly MountedRoute[]): boolean {
  for (const { route } of routes) if (route.body !== undefined) return true;
  return false;
}

function readBody(
  asked: AskedRequest,
  { limits }: Settings,
  bodies: ByteBudget,
): Awaitable<ReadBody | undefined> {
  const { exchange, routes } = asked;
  let takesMultipart = false;
  let isOptional = false;
  let acceptsText = false;
  for (const { route } of routes) {
    if (route.body !== undefined && route.body !== "json") takesMultipart = true;
    if (route.body === "optional-json") isOptional = true;
    if (route.acceptsText) acceptsText = true;
  }
  // Uploads are streamed to the route, which knows their limits.
  if (takesMultipart && isMultipart(exchange)) return undefined;
  const isTextAllowed = acceptsText && (asked.isAllowedOrigin === true || isOwnPage(exchange));
  return readJson(exchange, { limits, bodies, asked, isOptional, isTextAllowed });
}
