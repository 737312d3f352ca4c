import { usageError } from "../shared/cli-error.ts";
import type { FlagValues } from "../shared/to-command.ts";

/** The flags of the command line; those not given are absent. */
export interface ServeFlags {
  readonly file: string | undefined;
  readonly port: number | undefined;
  readonly host: string | undefined;
  readonly protocols: readonly ProtocolName[] | undefined;
  /** As `cors` takes them. */
  readonly corsOrigins: string | undefined;
  readonly sessions: string | undefined;
  readonly debug: boolean;
  readonly open: boolean;
  readonly watch: boolean;
  readonly playground: boolean;
  readonly version: boolean;
}

export type ProtocolName = "ag-ui" | "copilotkit" | "vercel" | "openai" | "rest" | "threads";

const protocolNames: readonly ProtocolName[] = [
  "ag-ui",
  "copilotkit",
  "vercel",
  "openai",
  "rest",
  "threads",
];

export const serveFlags = {
  port: { type: "string", short: "p" },
  host: { type: "string" },
  protocol: { type: "string", multiple: true },
  "cors-origins": { type: "string" },
  sessions: { type: "string" },
  debug: { type: "boolean" },
  open: { type: "boolean" },
  watch: { type: "boolean" },
  "no-playground": { type: "boolean" },
  version: { type: "boolean", short: "v" },
} as const;

/**
 * Reads the arguments after `serve`. Throws one sentence that names what is wrong and what is expected.
 */
export function readFlags(
  values: FlagValues<typeof serveFlags>,
  files: readonly string[],
): ServeFlags {
  if (files.length > 1) {
    throw usageError(
      `One agent file is served at a time, not ${files.length}: holodeck serve ${files[0]}.`,
    );
  }
  if (values.open && values["no-playground"]) {
    throw usageError("--open opens the page, which --no-playground leaves out; give one of them.");
  }
  return {
    file: files[0],
    port: values.port === undefined ? undefined : readPort(values.port),
    host: values.host === undefined ? undefined : readHost(values.host),
    protocols: values.protocol && readProtocols(values.protocol),
    corsOrigins: values["cors-origins"],
    sessions: values.sessions,
    debug: values.debug ?? false,
    open: values.open ?? false,
    watch: values.watch ?? false,
    playground: !values["no-playground"],
    version: values.version ?? false,
  };
}

/** A sentence for Node's error, which names the flag and then gives advice that does not apply here. */
export function explainFlag({ code, message }: NodeJS.ErrnoException): string {
  const flag = /'(-[^' ]+)/.exec(message)?.[1] ?? "";
  if (code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
    return `holodeck serve has no flag "${flag}"; \`holodeck serve --help\` lists them.`;
  }
  const name = /--([\w-]+)/.exec(message)?.[1] ?? "";
  const known: Readonly<Record<string, { readonly type: string }>> = {
    ...serveFlags,
    help: { type: "boolean" },
  };
  if (Object.hasOwn(known, name) && known[name]?.type === "boolean")
    return `--${name} takes no value; use it alone: --${name}.`;
  return `--${name} needs a value, like ${examples[name] ?? `--${name}=value`}.`;
}

const examples: Readonly<Record<string, string>> = {
  port: "--port 8000",
  host: "--host 127.0.0.1",
  protocol: "--protocol ag-ui,rest",
  "cors-origins": "--cors-origins http://localhost:3000",
  sessions: "--sessions sqlite:./threads.db",
};

function readPort(text: string): number {
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw usageError(`"${text}" is not a port; give a number from 0 to 65535, like --port 8000.`);
}

function readHost(text: string): string {
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  if (/^[\w.:%-]+$/.test(bare)) return bare;
  throw usageError(
    `"${text}" is not an address to listen on; give an IP address or a host name, like --host 127.0.0.1.`,
  );
}

function readProtocols(given: readonly string[]): readonly ProtocolName[] {
  const names = given.flatMap((text) => text.split(",")).map((name) => name.trim().toLowerCase());
  const unknown = names.find((name) => name !== "all" && !isProtocol(name));
  if (unknown !== undefined) {
    throw usageError(
      `There is no protocol "${unknown}"; choose from ${protocolNames.join(", ")} and all, like --protocol ag-ui,rest.`,
    );
  }
  if (names.includes("all")) return protocolNames;
  return protocolNames.filter((name) => names.includes(name));
}

function isProtocol(name: string): name is ProtocolName {
  return (protocolNames as readonly string[]).includes(name);
}
