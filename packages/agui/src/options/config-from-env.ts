import { assertOptions, describeValue } from "@holodeck/agui-core/internal";
import type { Logger } from "@holodeck/agui-core";
import { cors } from "@holodeck/agui-middleware";
import { memorySessions } from "@holodeck/agui-sessions";
import { createEnvReader, isHost } from "./env-reader.ts";
import { jsonLogger } from "./json-logger.ts";
import type { LogLevel } from "./json-logger.ts";
import type { AgentHandlerOptions } from "./options.ts";

export interface ConfigFromEnvOptions {
  /** Whether `OPENAI_API_KEY` has to be there. By default it need not: not every agent calls a model. */
  requireLlm?: boolean;
  /** Whether `AGUI_PORT` may be below 1024, 0 for any free one. By default not. */
  allowPrivileged?: boolean;
}

/** Which model an agent is to use. The library itself calls none. */
export interface LlmConfig {
  readonly provider: string;
  readonly model: string;
  /** Not shown by `JSON.stringify` or a log, nor copied by a spread. Empty when there is none. */
  readonly apiKey: string;
}

/** The settings from the environment, ready to use. */
export interface EnvConfig {
  /** For `createAgentHandler(agent, config.handler)`. */
  readonly handler: AgentHandlerOptions;
  /** For `serve(handler, config.serve)`. */
  readonly serve: { readonly host: string; readonly port: number; readonly logger: Logger };
  /** For the agent. */
  readonly llm: LlmConfig;
}

const logLevels: Readonly<Record<string, LogLevel>> = {
  debug: "debug",
  info: "info",
  warning: "warn",
  warn: "warn",
  error: "error",
};

/**
 * Reads the settings of a server from the environment; all faults are reported at once. An empty
 * variable counts as unset.
 *
 * @example
 * ```ts
 * const config = configFromEnv();
 * const handler = createAgentHandler(agent, config.handler);
 * await serve(handler, config.serve);
 * ```
 */
export function configFromEnv(
  env: Readonly<Record<string, unknown>> = processEnv(),
  options: ConfigFromEnvOptions = {},
): EnvConfig {
  if (typeof env !== "object" || env === null) {
    throw new TypeError(
      `configFromEnv takes an environment, like process.env, not ${describeValue(env)}.`,
    );
  }
  assertOptions("configFromEnv", options, ["requireLlm", "allowPrivileged"]);
  const { requireLlm = false, allowPrivileged = false } = options;
  const read = createEnvReader(env);

  const host = read.text("AGUI_HOST", "127.0.0.1", {
    rule: "an IP address or a host name",
    isFit: isHost,
  });
  const port = read.integer("AGUI_PORT", { least: allowPrivileged ? 0 : 1024, most: 65_535 });
  const debug = read.flag("AGUI_DEBUG");
  const level = read.oneOf("LOG_LEVEL", logLevels) ?? (debug ? "debug" : "info");
  const maxSessions = read.integer("AGUI_MAX_THREADS", { least: 1 });
  const maxMessages = read.integer("AGUI_MAX_MESSAGES", { least: 1 });
  // Past this many seconds a timer of JavaScript fires at once.
  const toolTimeout = read.integer("AGUI_TOOL_TIMEOUT", { least: 1, most: 2_147_483 });
  const crossOrigin = read.made("AGUI_CORS_ORIGINS", (origins) => cors({ origins }));
  const llm = hideKey({
    provider: read.text("LLM_PROVIDER", "openai"),
    model: read.text("LLM_MODEL", "gpt-4"),
    apiKey: read.secret("OPENAI_API_KEY", requireLlm),
  });
  read.assertNoFaults();

  const logger = jsonLogger({ level });
  const sizes = maxSessions === undefined ? {} : { maxSessions };
  return {
    handler: {
      logger,
      debug,
      limits: {
        ...sizes,
        ...(toolTimeout === undefined ? {} : { toolTimeoutMs: toolTimeout * 1_000 }),
      },
      middleware: crossOrigin === undefined ? [] : [crossOrigin],
      // How long a thread may become is the store's to know.
      ...(maxMessages === undefined
        ? {}
        : { sessions: memorySessions({ ...sizes, maxMessagesPerThread: maxMessages }) }),
    },
    serve: { host, port: port ?? 8000, logger },
    llm,
  };
}

// Hidden in JSON and in logs, also when the whole configuration is printed.
function hideKey({ provider, model, apiKey }: LlmConfig): LlmConfig {
  return Object.defineProperty({ provider, model } as LlmConfig, "apiKey", { get: () => apiKey });
}

// Not every runtime has a process.
function processEnv(): Record<string, unknown> {
  const { process } = globalThis as { process?: { env?: Record<string, unknown> } };
  return process?.env ?? {};
}
