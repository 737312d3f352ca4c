import {
  bearerAuth,
  cors,
  logging,
  rateLimit,
  redact,
  runTimeout,
  safeEqual,
  telemetry,
  throttleDeltas,
  toolFilter,
} from "@holodeck/agui";
import type { HandlerMiddleware, Middleware } from "@holodeck/agui";
import type { Environment } from "./environment.ts";
import { reasonOf } from "../shared/reason-of.ts";
import type { Path, FileReport } from "./faults/report.ts";
import { middlewareSchema } from "./schema/schema-middleware.ts";
import type { MiddlewareConfig, MiddlewareName } from "./schema/schema-middleware.ts";
import { withCamelKeys } from "./schema/snake-case.ts";

type Any = Middleware | HandlerMiddleware;
type Options = Record<string, unknown>;

interface Lent {
  readonly environment: Environment;
  readonly path: Path;
}

// The schema has seen the options; what it cannot know, the middleware itself refuses.
const makers: Record<MiddlewareName, (options: Options, lent: Lent) => Any> = {
  logging: (options) => logging(options),
  rate_limit: (options) => rateLimit(options as unknown as Parameters<typeof rateLimit>[0]),
  redact: ({ patterns, ...rest }) =>
    redact({
      ...rest,
      ...(patterns ? { patterns: (patterns as string[]).map((one) => new RegExp(one, "u")) } : {}),
    }),
  run_timeout: (options) => runTimeout(options),
  throttle_deltas: (options) => throttleDeltas(options),
  tool_filter: (options) => toolFilter(options),
  telemetry: (options) => telemetry(options),
  cors: (options) => cors(options as unknown as Parameters<typeof cors>[0]),
  bearer_auth: ({ tokenEnv, realm }, { environment, path }) => {
    if (typeof tokenEnv !== "string") {
      throw new TypeError("bearer_auth needs the name of a variable: { token_env: AGENT_TOKEN }.");
    }
    const secret = environment.need(tokenEnv, [...path, "token_env"]);
    return bearerAuth({
      verify: (token) => (safeEqual(token, secret) ? { id: "bearer" } : null),
      ...(typeof realm === "string" ? { realm } : {}),
    });
  },
};

/** The middleware that a file names. What is wrong with it is reported. */
export function toMiddleware(
  items: unknown,
  { environment, report }: { environment: Environment; report: FileReport },
): Any[] {
  if (!Array.isArray(items)) return [];
  let hasAuth = false;
  return items.flatMap((item: unknown, index) => {
    const parsed = middlewareSchema.safeParse(item);
    if (!parsed.success) return [];
    const path = ["middleware", index];
    const named = toNamed(parsed.data);
    if (!named) {
      report.add(path, 'One middleware per item, like "- rate_limit: { runs: 20 }".');
      return [];
    }
    const [name, options] = named;
    const at = typeof item === "string" ? path : [...path, name];
    if (name === "bearer_auth" && hasAuth) {
      report.add(at, "bearer_auth is already listed; only one may authenticate requests.");
    }
    hasAuth ||= name === "bearer_auth";
    try {
      return makers[name](withCamelKeys(options), { environment, path: at });
    } catch (error) {
      report.add(at, `${name}: ${reasonOf(error)}`);
      return [];
    }
  });
}

function toNamed(config: MiddlewareConfig): [MiddlewareName, object] | undefined {
  if (typeof config === "string") return [config, {}];
  const entries = Object.entries(config) as [MiddlewareName, object][];
  return entries.length === 1 ? entries[0] : undefined;
}
