import { dirname, resolve } from "node:path";
import { existsSync } from "node:fs";
import type { Limits } from "@holodeck/agui-core";
import type { OpenStore } from "../shared/open-store.ts";
import { serverOf, storeForms } from "../shared/server-url.ts";
import type { Environment } from "./environment.ts";
import type { FileReport } from "./faults/report.ts";

/** Makes the store that `sessions` of a file names; undefined for the one in memory. */
export type OpenSessions = (limits: Partial<Limits>) => Promise<OpenStore | undefined>;

export interface SessionsPlace {
  readonly folder: string;
  readonly environment: Environment;
  readonly report: FileReport;
}

const path = ["sessions"];

/** Reads `sessions` of a file. Nothing is opened before the function that it returns is called. */
export function toSessions(value: unknown, place: SessionsPlace): OpenSessions {
  const { folder, environment, report } = place;
  const given = typeof value === "string" ? environment.expand(value, path) : "memory";
  const isSqlite = given.startsWith("sqlite:");
  const server = serverOf(given);
  if (isSqlite) {
    const parent = dirname(resolve(folder, given.slice("sqlite:".length)));
    if (!existsSync(parent)) report.add(path, `There is no folder ${parent}.`);
  } else if (server) {
    if (!URL.canParse(given)) report.add(path, `This is not a ${server} URL.`);
  } else if (given !== "memory" && typeof value === "string" && value.startsWith("${")) {
    // The schema has already reported a fault of the value as written.
    report.add(path, `${value} must be ${storeForms}.`);
  }
  return async (limits) => {
    if (!isSqlite && !server) return undefined;
    const { openStore } = await import("../shared/open-store.ts");
    // A flag may name another store, and then this one is never asked.
    return openStore(given, { limits, cwd: folder, isLazy: true });
  };
}
