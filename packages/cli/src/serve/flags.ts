import { parseArgs } from "node:util";
import { usageError } from "../shared/cli-error.ts";

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
  readonly help: boolean;
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

const options = {
  port: { type: "string", short: "p" },
  host: { type: "string" },
  protocol: { type: "string", multiple: true },
  "cors-origins": { type: "string" },
  sessions: { type: "string" },
  debug: { type: "boolean" },
  open: { type: "boolean" },
  watch: { type: "boolean" },
  "no-playground": { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

/**
 * Reads the arguments after `serve`. Throws one sentence that names what is wrong and what is expected.
 */
export function readFlags(args: readonly string[]): ServeFlags {
  const { values, positionals } = parse(args);
  if (positionals.length > 1) {
    throw usageError(
      `One agent file is served at a time, not ${positionals.length}: holodeck serve ${positionals[0]}.`,
    );
  }
  if (values.open && values["no-playground"]) {
    throw usageError("--open opens the page, which --no-playground leaves out; give one of them.");
  }
  return {
    file: positionals[0],
    port: values.port === undefined ? undefined : readPort(values.port),
    host: values.host === undefined ? undefined : readHost(values.host),
    protocols: values.protocol && readProtocols(values.protocol),
    corsOrigins: values["cors-origins"],
    sessions: values.sessions,
    debug: values.debug ?? false,
    open: values.open ?? false,
    watch: values.watch ?? false,
    playground: !values["no-playground"],
    help: values.help ?? false,
    version: values.version ?? false,
  };
}

function parse(args: readonly string[]): ReturnType<typeof parseWords> {
  try {
    return parseWords(args);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined || !code.startsWith("ERR_PARSE_ARGS_")) throw error;
    throw usageError(explain(code, message));
  }
}

function parseWords(
  args: readonly string[],
): ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>> {
  return parseArgs({ args: [...args], options, allowPositionals: true });
}

// Node's message names the flag and then gives advice that does not apply here.
function explain(code: string, message: string): string {
  const flag = /'(-[^' ]+)/.exec(message)?.[1] ?? "";
  if (code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
    return `holodeck serve has no flag "${flag}"; \`holodeck serve --help\` lists them.`;
  }
  const name = /--([\w-]+)/.exec(message)?.[1] ?? "";
  const known = Object.hasOwn(options, name) ? options[name as keyof typeof options] : undefined;
  if (known?.type === "boolean") return `--${name} takes no value; use it alone: --${name}.`;
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
