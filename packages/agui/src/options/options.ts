import { defaultLimits, systemClock } from "@holodeck/agui-core";
import type {
  AgentRequest,
  Awaitable,
  Clock,
  DisconnectPolicy,
  FileProcessor,
  HandlerMiddleware,
  Json,
  Limits,
  Logger,
  Middleware,
  Principal,
  Protocol,
  ServerTool,
  Session,
  SessionStore,
} from "@holodeck/agui-core";
import { memorySessions } from "@holodeck/agui-sessions";
import type { MemorySessionsOptions } from "@holodeck/agui-sessions";
import type { BusyPolicy } from "../runs/acquire.ts";
import { checkOptions } from "./check-options.ts";
import { isDevelopment } from "./environment.ts";
import type { HealthOptions } from "../describe/health.ts";
import { jsonLogger } from "./json-logger.ts";
import type { OpenApiOptions } from "../describe/openapi.ts";
import type { CreateSession } from "../runs/resources.ts";

export interface AgentHandlerOptions {
  /** By default all: AG-UI, CopilotKit, Vercel's `useChat`, REST and the threads dialect. */
  protocols?: readonly Protocol[];
  /** Outermost first. Functions act on runs; objects on requests, admission and runs. */
  middleware?: readonly (Middleware | HandlerMiddleware)[];
  /** By default `memorySessions()` within this handler's limits. */
  sessions?: SessionStore;
  /** Stripped before routing, for hosts that do not strip their mount prefix. */
  basePath?: string;
  /** Which agent answers when the request names none. By default the first of the map. */
  defaultAgent?: string;
  /**
   * Returns the caller; null responds with 401. Without this option all callers share one anonymous
   * identity.
   */
  authenticate?: (request: AgentRequest) => Awaitable<Principal | null>;
  /** What a run does when its last client leaves. By default it is aborted. */
  onDisconnect?: DisconnectPolicy;
  /** A second run on a thread: refused with 409, queued, or taking the first one's place. */
  onBusy?: BusyPolicy;
  /**
   * What happens to an unknown thread: it is created, or refused with 404. By default each protocol
   * decides.
   */
  onUnknownThread?: "create" | "reject";
  /** The owner of the messages of a thread. By default each protocol decides. */
  history?: "client" | "server";
  /**
   * Takes tool results and system messages from clients as sent. By default they are checked against
   * what the server asked for. Approvals are always bound to what this server issued.
   */
  trustClientHistory?: boolean;
  /** Resources of one thread, disposed of on delete, expiry and close. */
  createSession?: CreateSession;
  /** Bounds that differ from the defaults, like `{ runTimeoutMs: 60_000 }`. */
  limits?: Partial<Limits>;
  /** Server tools, for `context.callTool`. */
  tools?: readonly ServerTool[];
  /** A repair by the guard becomes RUN_ERROR `protocol-violation`. */
  strict?: boolean;
  /**
   * Whether the log contains advice for authors of agents, such as what to write when an agent returned
   * nothing. By default true when there is a `process` whose `NODE_ENV` is not `production`.
   */
  development?: boolean;
  /** What a client is shown of its session, as a state snapshot at the start of each run. */
  exposeSessionState?: (session: Session) => unknown;
  /**
   * Reads what clients upload before the agent does, such as `extractFiles()` of
   * `@holodeck/agui-files`. By default uploads are passed through as they are.
   */
  files?: FileProcessor;
  /** Idle time after which a keep-alive is sent. By default 8 s. */
  heartbeatMs?: number;
  /** By default JSON lines on standard error; pino fits. */
  logger?: Logger;
  /**
   * Full content in logs and real error messages to clients: `logging()` is there without being asked
   * for, and writes what was asked and answered. Not for production.
   */
  debug?: boolean;
  /** Service name, version and extra fields of discovery. */
  info?: Json;
  /**
   * The paths of health checks and additional checks; `false` for none. By default `/health`, `/ready` and
   * `/health/agent`.
   */
  health?: false | HealthOptions;
  /** Where the OpenAPI document is, `false` for nowhere. By default `/openapi.json`. */
  openapi?: false | OpenApiOptions;
  /** What the `type` of a problem starts with. By default `https://holodeck.dev/errors/`. */
  problemTypeBase?: string;
  /** For tests that hold time still. */
  clock?: Clock;
}

export interface Settings extends Required<
  Pick<
    AgentHandlerOptions,
    | "protocols"
    | "sessions"
    | "basePath"
    | "onDisconnect"
    | "onBusy"
    | "trustClientHistory"
    | "tools"
    | "strict"
    | "development"
    | "heartbeatMs"
    | "logger"
    | "debug"
    | "info"
    | "health"
    | "openapi"
    | "clock"
  >
> {
  readonly limits: Limits;
  /** How many threads the store may hold, if that was set: one more is refused. */
  readonly maxSessions: number | undefined;
  readonly authenticate: AgentHandlerOptions["authenticate"];
  readonly problemTypeBase: string | undefined;
  readonly history: AgentHandlerOptions["history"];
  readonly onUnknownThread: AgentHandlerOptions["onUnknownThread"];
  readonly exposeSessionState: AgentHandlerOptions["exposeSessionState"];
  readonly files: FileProcessor | undefined;
  readonly runMiddleware: readonly Middleware[];
  readonly handlerMiddleware: readonly HandlerMiddleware[];
}

/** What an entry has for options that were not set. */
export interface HandlerDefaults {
  readonly protocols?: () => readonly Protocol[];
  /** Mounted with `debug`. */
  readonly logging?: () => HandlerMiddleware;
}

/** Every option with its default; a wrong one is refused with its name and value. */
export function resolveOptions(options: AgentHandlerOptions, defaults: HandlerDefaults): Settings {
  checkOptions(options);
  const limits = resolveLimits(options.limits ?? {});
  const maxSessions = options.limits?.maxSessions;
  const { debug = false, clock = systemClock, heartbeatMs = 8_000, strict = false } = options;
  const { onDisconnect = "abort", tools = [], info = {}, basePath = "" } = options;
  const { onBusy = "reject", trustClientHistory = false } = options;
  const { health = {}, openapi = {} } = options;
  const logger = options.logger ?? jsonLogger({ debug });
  const given = options.middleware ?? [];
  const all = debug && defaults.logging ? withLogging(given, defaults.logging) : given;
  const middleware = all.map((one) =>
    typeof one === "function" ? one : (one.mount?.({ logger, debug }) ?? one),
  );
  describeTools(tools, { strict, logger });
  return {
    protocols: options.protocols ?? defaults.protocols?.() ?? [],
    sessions: options.sessions ?? memorySessions(storeOptions(limits, maxSessions, clock)),
    basePath: basePath === "/" ? "" : basePath.replace(/\/$/, ""),
    onDisconnect,
    onBusy,
    onUnknownThread: options.onUnknownThread,
    trustClientHistory,
    history: options.history,
    tools,
    strict,
    development: options.development ?? isDevelopment(),
    heartbeatMs,
    logger,
    debug,
    info,
    health,
    openapi,
    problemTypeBase: options.problemTypeBase,
    clock,
    limits,
    maxSessions,
    authenticate: toAuthenticate(options.authenticate, middleware),
    exposeSessionState: options.exposeSessionState,
    files: options.files,
    runMiddleware: middleware.flatMap((one) => (typeof one === "function" ? one : (one.run ?? []))),
    handlerMiddleware: middleware.filter((one) => typeof one !== "function"),
  };
}

// With `debug` the content is in the log, whether or not logging was asked for.
function withLogging(
  given: readonly (Middleware | HandlerMiddleware)[],
  logging: () => HandlerMiddleware,
): readonly (Middleware | HandlerMiddleware)[] {
  const isThere = given.some((one) => typeof one !== "function" && one.name === "logging");
  return isThere ? given : [logging(), ...given];
}

const shortest = 10;

// A model calls a tool at the wrong time when its description is too short.
function describeTools(
  tools: readonly ServerTool[],
  { strict, logger }: { strict: boolean; logger: Logger },
): void {
  const isShort = ({ description = "" }: Partial<ServerTool>): boolean =>
    description.length < shortest;
  const short = tools.findIndex(isShort);
  if (short < 0) return;
  if (strict) {
    throw new TypeError(
      `tools[${short}], "${tools[short]!.name}", needs a description of at least ${shortest} characters.`,
    );
  }
  logger.warn(
    { tools: tools.filter(isShort).map(({ name }) => name) },
    `Tools should have a description of at least ${shortest} characters.`,
  );
}

// Only one authenticator: with two, the weaker one could admit a caller.
function toAuthenticate(
  authenticate: AgentHandlerOptions["authenticate"],
  middleware: readonly (Middleware | HandlerMiddleware)[],
): AgentHandlerOptions["authenticate"] {
  const given = middleware.filter(
    (one): one is HandlerMiddleware => typeof one !== "function" && one.authenticate !== undefined,
  );
  if (given.length + (authenticate ? 1 : 0) > 1) {
    const names = [...(authenticate ? ["authenticate"] : []), ...given.map(({ name }) => name)];
    throw new TypeError(`Only one of these may authenticate requests: ${names.join(", ")}.`);
  }
  const [one] = given;
  return authenticate ?? (one && ((request) => one.authenticate!(request)));
}

// Only what the store asks for: it refuses options that it does not know.
function storeOptions(
  limits: Limits,
  maxSessions: number | undefined,
  clock: Clock,
): MemorySessionsOptions {
  const { runLogEvents, runLogBytes, runLogMs, logBytes, memoryBytes } = limits;
  const bounds = { runLogEvents, runLogBytes, runLogMs, logBytes, memoryBytes, clock };
  // Absent where it was not set: then the store makes room instead of refusing.
  return maxSessions === undefined ? bounds : { ...bounds, maxSessions };
}

function resolveLimits(given: Partial<Limits>): Limits {
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const limits = { ...defaultLimits, ...set };
  const { bodyBytes, bodiesBytes, sessionBytes, jsonNodes } = limits;
  return {
    ...limits,
    bodiesBytes: Math.max(bodiesBytes, bodyBytes),
    // What a request may bring, a thread can hold.
    sessionBytes: Math.max(sessionBytes, bodyBytes),
    // Larger bodies have more values.
    jsonNodes: given.jsonNodes ?? Math.max(jsonNodes, Math.floor(bodyBytes / bytesPerNode)),
  };
}

const bytesPerNode = 150;
