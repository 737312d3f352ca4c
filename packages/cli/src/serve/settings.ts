import { configFromEnv, cors } from "@holodeck/agui";
import type { HandlerMiddleware, Limits, LogLevel } from "@holodeck/agui";
import { CliError, usageError } from "../shared/cli-error.ts";
import type { ServeFlags } from "./flags.ts";

/** The settings of flags and environment together; flags win. */
export interface ServeSettings {
  readonly host: string;
  readonly port: number;
  readonly debug: boolean;
  readonly logLevel: LogLevel;
  readonly logFormat: "text" | "json";
  /** `*`, or origins; empty for none. */
  readonly corsOrigins: readonly string[];
  readonly cors: HandlerMiddleware | undefined;
  /** What the environment bounds. */
  readonly limits: Partial<Limits>;
  readonly maxMessages: number | undefined;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Throws everything that is wrong with the environment in one error. */
export function readSettings(flags: ServeFlags, env: Env): ServeSettings {
  // A variable overridden by a flag need not be valid.
  const config = readEnv({
    ...env,
    ...(flags.port !== undefined && { AGUI_PORT: undefined }),
    ...(flags.host !== undefined && { AGUI_HOST: undefined }),
    ...(flags.corsOrigins !== undefined && { AGUI_CORS_ORIGINS: undefined }),
  });
  const debug = flags.debug || (config.handler.debug ?? false);
  const origins = flags.corsOrigins ?? env.AGUI_CORS_ORIGINS ?? "";
  const maxMessages = env.AGUI_MAX_MESSAGES?.trim();
  return {
    host: flags.host ?? config.serve.host,
    port: flags.port ?? config.serve.port,
    debug,
    logLevel: flags.debug ? "debug" : levelOf(env, debug),
    logFormat: readFormat(env),
    corsOrigins: origins.split(",").flatMap((one) => one.trim() || []),
    cors: origins.trim() === "" ? undefined : createCors(origins),
    limits: config.handler.limits ?? {},
    // It was found to be a number above.
    maxMessages: maxMessages ? Number(maxMessages) : undefined,
  };
}

function readEnv(env: Env): ReturnType<typeof configFromEnv> {
  try {
    return configFromEnv(env, { allowPrivileged: true });
  } catch (error) {
    throw new CliError((error as Error).message, { exitCode: 2, cause: error });
  }
}

function createCors(origins: string): HandlerMiddleware {
  try {
    return cors({ origins });
  } catch (error) {
    throw usageError(`--cors-origins: ${(error as Error).message}`);
  }
}

function levelOf({ LOG_LEVEL }: Env, debug: boolean): LogLevel {
  const level = LOG_LEVEL?.trim().toLowerCase();
  if (!level) return debug ? "debug" : "info";
  return level === "warning" ? "warn" : (level as LogLevel);
}

function readFormat({ LOG_FORMAT }: Env): "text" | "json" {
  const format = LOG_FORMAT?.trim().toLowerCase() || "text";
  if (format === "text" || format === "json") return format;
  throw usageError(`LOG_FORMAT is "${LOG_FORMAT}"; it must be text or json, like LOG_FORMAT=json.`);
}
