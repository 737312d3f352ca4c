import { dirname, resolve } from "node:path";
import { existsSync } from "node:fs";
import type { Limits, SessionStore } from "@holodeck/agui-core";
import type { Environment } from "./environment.ts";
import type { Report } from "./report.ts";

export interface OpenedSessions {
  readonly store: SessionStore;
  close(): Promise<void>;
}

/** Makes the store that `sessions` of a file names; undefined for the one in memory. */
export type OpenSessions = (limits: Partial<Limits>) => Promise<OpenedSessions | undefined>;

export interface SessionsPlace {
  readonly folder: string;
  readonly environment: Environment;
  readonly report: Report;
}

const path = ["sessions"];

/** Reads `sessions` of a file. Nothing is opened before the function that it returns is called. */
export function toSessions(value: unknown, place: SessionsPlace): OpenSessions {
  const { folder, environment, report } = place;
  const given = typeof value === "string" ? environment.expand(value, path) : "memory";
  if (given.startsWith("sqlite:")) {
    const file = resolve(folder, given.slice("sqlite:".length));
    if (!existsSync(dirname(file))) report.add(path, `There is no folder ${dirname(file)}.`);
    return (limits) => openSqlite(file, limits);
  }
  if (/^rediss?:\/\//.test(given)) {
    if (!URL.canParse(given)) report.add(path, "This is no address of a Redis server.");
    return (limits) => openRedis(given, limits);
  }
  // A fault of the value as it stands has been told by the schema.
  if (given !== "memory" && typeof value === "string" && value.startsWith("${")) {
    report.add(path, `${value} must be memory, sqlite:PATH or redis://HOST:PORT.`);
  }
  return () => Promise.resolve(undefined);
}

async function openSqlite(file: string, limits: Partial<Limits>): Promise<OpenedSessions> {
  const { sqliteSessions } = await import("@holodeck/agui-sessions/sqlite");
  // The handler closes its store; there is nothing else to end.
  const store = sqliteSessions({ path: file, ...boundsOf(limits) });
  return { store, close: () => Promise.resolve() };
}

async function openRedis(url: string, limits: Partial<Limits>): Promise<OpenedSessions> {
  const [{ redisSessions }, { createClient }] = await Promise.all([
    import("@holodeck/agui-sessions/redis"),
    import("redis"),
  ]);
  const client = createClient({ url });
  // The store itself says `store-unavailable` while there is no connection; without a listener the
  // process would end.
  client.on("error", () => undefined);
  void client.connect().catch(() => undefined);
  return {
    store: redisSessions({ client, ...boundsOf(limits) }),
    close: async () => client.destroy(),
  };
}

function boundsOf({ maxSessions, runLogEvents, runLogBytes, runLogMs }: Partial<Limits>): object {
  const bounds = { maxSessions, runLogEvents, runLogBytes, runLogMs };
  return Object.fromEntries(Object.entries(bounds).filter(([, bound]) => bound !== undefined));
}
