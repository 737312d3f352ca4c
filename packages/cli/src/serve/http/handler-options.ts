import { agui, allowAnonymous, copilotkit, logging, rest, threads, vercel } from "@holodeck/agui";
import { openai } from "@holodeck/agui-openai";
import type {
  AgentHandlerOptions,
  HandlerMiddleware,
  Limits,
  Logger,
  Middleware,
  Protocol,
  SessionStore,
} from "@holodeck/agui";
import type { AgentModule } from "../../shared/loaded-agent.ts";
import type { FailureBook } from "../print/failure-book.ts";
import type { ProtocolName, ServeFlags } from "../flags.ts";
import type { RepairBook } from "../print/repair-book.ts";
import type { ServeSettings } from "../settings.ts";

const protocols: Readonly<Record<ProtocolName, () => Protocol>> = {
  "ag-ui": agui,
  copilotkit,
  vercel,
  openai,
  rest,
  threads,
};

export interface ServedParts {
  readonly flags: ServeFlags;
  readonly settings: ServeSettings;
  readonly logger: Logger;
  readonly repairs: RepairBook;
  readonly failures: FailureBook;
}

// Time enough to reload the page in mid-answer.
const graceMs = 30_000;

/** What the handler is made with: flags before the environment, that before the file. */
export async function toHandlerOptions(
  { options }: AgentModule,
  sessions: SessionStore,
  { flags, settings, logger, repairs, failures }: ServedParts,
): Promise<AgentHandlerOptions> {
  const { cors, debug } = settings;
  const own = options.middleware ?? [];
  const middleware = [
    ...(own.some((one) => isNamed(one, "logging")) ? [] : [logging()]),
    ...(cors ? [cors, ...own.filter((one) => !isNamed(one, "cors"))] : own),
  ];
  const { extractFiles } = options.files ? {} : await import("@holodeck/agui-files");
  return {
    onDisconnect: { graceMs },
    protocols: Object.values(protocols).map((create) => create()),
    ...options,
    ...(flags.protocols && { protocols: flags.protocols.map((name) => protocols[name]()) }),
    ...(extractFiles && { files: extractFiles() }),
    ...(hasAuthentication(options) ? {} : { authenticate: allowAnonymous() }),
    middleware,
    sessions,
    limits: toLimits(options, settings),
    logger: failures.listen(repairs.listen(options.logger ?? logger)),
    debug: debug || (options.debug ?? false),
  };
}

/** The limits that the file and the environment set. */
export function toLimits(
  { limits }: AgentHandlerOptions,
  settings: ServeSettings,
): Partial<Limits> {
  const given = Object.entries(limits ?? {}).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), ...settings.limits };
}

function hasAuthentication({ authenticate, middleware = [] }: AgentHandlerOptions): boolean {
  const asks = (one: Middleware | HandlerMiddleware): boolean =>
    typeof one !== "function" && one.authenticate !== undefined;
  return authenticate !== undefined || middleware.some(asks);
}

function isNamed(one: Middleware | HandlerMiddleware, name: string): boolean {
  return typeof one !== "function" && one.name === name;
}
