import { hostname } from "node:os";
import { isIP } from "node:net";
import { AgentError } from "@holodeck/agui";
import type { Exchange } from "@holodeck/agui-core";

export interface HostGuardOptions {
  /** What the server listens on. */
  readonly host: string;
  /** Known once it listens. */
  readonly port: () => number;
  /** `*`, or origins that may do what the page may. */
  readonly corsOrigins: readonly string[];
}

/** Throws for a request that a page of another site has sent, or had sent by a browser. */
export type HostGuard = (exchange: Pick<Exchange, "method" | "header">) => void;

/**
 * Any page that a user visits can send requests to `localhost`. Such requests must be refused:
 * neither a host name that resolves here nor a form may get through.
 */
export function createHostGuard(options: HostGuardOptions): HostGuard {
  const isHost = createHostCheck(options);
  const origins = new Set(options.corsOrigins);

  return (exchange) => {
    const host = exchange.header("host")?.toLowerCase() ?? "";
    if (!isHost(host)) {
      const right = `http://${urlHost(options.host)}:${options.port()}`;
      throw new AgentError(
        "forbidden",
        `The host "${host.slice(0, 100)}" is not a name of this server; use ${right}, or serve with --host.`,
      );
    }
    if (["GET", "HEAD", "OPTIONS"].includes(exchange.method)) return;
    const origin = exchange.header("origin");
    if (origins.has("*") || (origin !== undefined && origins.has(origin))) return;
    const site = exchange.header("sec-fetch-site");
    const isForeign = origin !== undefined && origin !== `http://${host}`;
    if (isForeign || site === "cross-site" || (origin === undefined && site === "same-site")) {
      throw new AgentError("forbidden", foreignPage(origin));
    }
  };
}

function foreignPage(origin: string | undefined): string {
  const known = origin === undefined || origin === "null" ? undefined : origin.slice(0, 100);
  return `Pages of ${known ?? "other sites"} may not use this server; allow them with --cors-origins ${known ?? "http://localhost:3000"}.`;
}

function createHostCheck({ host, port }: HostGuardOptions): (header: string) => boolean {
  if (isAnyAddress(host)) {
    // A page can give its own name any address, but it cannot be named by an address.
    const own = hostname().toLowerCase();
    const names = new Set(["localhost", own, `${own}.local`]);
    return (header) => {
      const name = nameOf(header);
      return name !== undefined && (names.has(name) || isIP(name) !== 0);
    };
  }
  const names = new Set(["localhost", "127.0.0.1", "[::1]", urlHost(host).toLowerCase()]);
  return (header) => {
    const [, name = "", digits = "80"] = /^(.*?)(?::(\d+))?$/.exec(header) ?? [];
    return names.has(name) && Number(digits) === port();
  };
}

function nameOf(header: string): string | undefined {
  const found = /^(?:\[([\da-f:.%]+)\]|([^:[\]/]+))(?::\d+)?$/i.exec(header);
  return found?.[1] ?? found?.[2];
}

/** Whether the whole network can reach it. */
export function isAnyAddress(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** Whether only this machine can reach it. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d+){3}$/.test(host);
}

/** The host as written in a URL. */
function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
