import { jsonLogger } from "@holodeck/agui";
import type { Logger } from "@holodeck/agui";
import { usageError } from "../shared/cli-error.ts";
import type { Io } from "../shared/io.ts";
import type { AgentModule } from "../shared/loaded-agent.ts";
import { version } from "../version.ts";
import { createBanner } from "./print/banner.ts";
import { createStoreChoice } from "./agent/choose-store.ts";
import type { StoreChoice } from "./agent/choose-store.ts";
import { consoleLogger } from "./print/console-logger.ts";
import { createApp } from "./http/create-app.ts";
import { createFailureBook } from "./print/failure-book.ts";
import type { ServeFlags } from "./flags.ts";
import { createGenerations } from "./agent/generations.ts";
import type { Generations } from "./agent/generations.ts";
import { createHostGuard, isLoopback, isAnyAddress } from "./http/host-guard.ts";
import { toHandlerOptions } from "./http/handler-options.ts";
import { openPort } from "./http/open-port.ts";
import type { OpenPort } from "./http/open-port.ts";
import { loadAgent } from "./agent/load-agent.ts";
import { openBrowser } from "./open-browser.ts";
import { hasPage } from "./http/page.ts";
import { createRepairBook } from "./print/repair-book.ts";
import { readSettings } from "./settings.ts";
import type { ServeSettings } from "./settings.ts";
import { untilSignal } from "./until-signal.ts";
import { watchAgent } from "./agent/watch-agent.ts";
import type { AgentWatch } from "./agent/watch-agent.ts";

const drainMs = 5_000;

/** What is there while an agent is served. */
interface Site {
  readonly agents: Generations;
  readonly server: OpenPort;
  readonly stores: StoreChoice;
  readonly url: string;
  readonly withPage: boolean;
}

/** Serves an agent until a signal ends it; resolves with the exit code. */
export async function runServer(flags: ServeFlags, io: Io): Promise<number> {
  const settings = readSettings(flags, io.env);
  const watching = flags.watch ? startWatching(flags, io) : undefined;
  const loaded = await loadAgent(flags.file, io);
  watching?.add(loaded);
  const site = await open(loaded, { flags, settings, io });
  const close = (): Promise<void> => shutDown(site, watching);
  const ended = untilSignal(() => {
    printOpenAgents(site, io);
    return close();
  }, io);
  try {
    await site.agents.current.handler.start();
    await announce(loaded, site, { flags, settings, io });
  } catch (error) {
    await close();
    throw error;
  }
  watching?.start(site.agents);
  return ended;
}

function startWatching({ file, debug }: ServeFlags, io: Io): AgentWatch {
  if (file !== undefined) return watchAgent(file, io, { debug });
  throw usageError("--watch needs a file to watch, like holodeck serve agent.ts --watch.");
}

interface Given {
  readonly flags: ServeFlags;
  readonly settings: ServeSettings;
  readonly io: Io;
}

async function open(loaded: AgentModule, { flags, settings, io }: Given): Promise<Site> {
  const closers: (() => Promise<void> | undefined)[] = [() => loaded.close?.()];
  try {
    const stores = createStoreChoice({ flags, settings, cwd: io.cwd });
    closers.unshift(() => stores.close());
    const logger = createLogger(settings, io);
    const repairs = createRepairBook();
    const failures = createFailureBook();
    const parts = { flags, settings, logger, repairs, failures };
    const agents = await createGenerations(loaded, {
      toOptions: (agent, sessions) => toHandlerOptions(agent, sessions, parts),
      stores,
      logger,
    });
    const withPage = flags.playground && hasPage(io);
    const { host, corsOrigins } = settings;
    const guard = createHostGuard({ host, corsOrigins, port: () => server.port });
    // Where an agent's code is, and why it fails, is shown only on this machine.
    const shown = isLoopback(host) ? failures : undefined;
    const app = createApp({ guard, repairs, failures: shown, hasPage: withPage, agents, logger });
    const server: OpenPort = await openPort(app, { host, port: settings.port, logger });
    return { agents, server, stores, url: server.url, withPage };
  } catch (error) {
    for (const close of closers) await close();
    throw error;
  }
}

function createLogger({ logFormat, logLevel, debug }: ServeSettings, { err }: Io): Logger {
  if (logFormat === "json") return jsonLogger({ level: logLevel });
  return consoleLogger((line) => void err.write(line), { level: logLevel, debug });
}

async function announce(
  loaded: AgentModule,
  { agents, url, withPage }: Site,
  { flags, settings, io }: Given,
): Promise<void> {
  const { handler, options, store } = agents.current;
  const banner = await createBanner({
    version,
    source: loaded.name,
    handler,
    url,
    basePath: options.basePath?.replace(/\/$/, "") ?? "",
    hasPage: withPage,
    sessions: store,
    limits: agents.limits,
    watch: flags.watch,
    pid: process.pid,
  });
  io.out.write(banner);
  if (isAnyAddress(settings.host)) {
    io.err.write(
      `Warning: listening on ${settings.host}. Anyone on the network can use the agent; --host 127.0.0.1 keeps it to this machine.\n`,
    );
  }
  if (flags.open && withPage) openBrowser(`${url}/`, io);
}

function printOpenAgents({ agents }: Site, { out }: Io): void {
  const { open } = agents;
  if (open === 0) return;
  const runs = open === 1 ? "1 run" : `${open} runs`;
  out.write(`Waiting up to ${drainMs / 1_000} s for ${runs} to end; Ctrl-C again ends at once.\n`);
}

async function shutDown({ agents, server, stores }: Site, watching?: AgentWatch): Promise<void> {
  watching?.close();
  server.stopAccepting();
  await agents.close(drainMs);
  await server.close();
  await stores.close();
}
