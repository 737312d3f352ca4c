import { processClock } from "../../shared/process-clock.ts";
import { withDeadline } from "@holodeck/agui-core/internal";
import { AgentError } from "@holodeck/agui-core";
import type { CallMcpTool, McpCallOptions, McpCallParams } from "@holodeck/agui-adapters/mcp";
import type { Client, Tool, Transport } from "@modelcontextprotocol/client";
import { reasonOf } from "../../shared/reason-of.ts";

/** How an MCP server is reached, with everything taken from the environment that it needs. */
export type McpTarget = { readonly name: string; readonly timeoutMs: number } & (
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly folder: string;
    }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> }
);

/** One MCP server: connected when it is first needed, and again once it was lost. */
export interface McpServer {
  readonly name: string;
  /** Rejects with an error that names the server. */
  connect(): Promise<void>;
  /** As the server listed them last. */
  readonly tools: readonly Tool[];
  readonly call: CallMcpTool;
  close(): Promise<void>;
}

/** A server that nothing has been sent to yet. */
export function createMcpServer(target: McpTarget): McpServer {
  const { name, timeoutMs } = target;
  let tools: readonly Tool[] = [];
  let connecting: Promise<Client> | undefined;
  let current: Client | undefined;
  const closing = new AbortController();

  async function open(): Promise<Client> {
    const { Client } = await import("@modelcontextprotocol/client");
    const client = new Client(
      { name: "holodeck", version: "1.0.0" },
      {
        // A stdio server would be started twice to find out.
        capabilities: { elicitation: { form: {}, url: {} } },
        ...("url" in target ? { versionNegotiation: { mode: "auto" as const } } : {}),
        listChanged: {
          tools: {
            onChanged: (_, changed) => {
              if (changed) tools = changed;
            },
          },
        },
      },
    );
    const transport = await toTransport(target);
    client.onclose = () => forget(client);
    try {
      await within(timeoutMs, closing.signal, async () => {
        await client.connect(transport, { timeout: timeoutMs });
        ({ tools } = await client.listTools(undefined, { timeout: timeoutMs }));
      });
    } catch (cause) {
      await Promise.allSettled([client.close(), transport.close()]);
      const why = `cannot be used: ${reasonOf(cause)}`;
      throw new Error(`The MCP server "${name}" (${placeOf(target)}) ${why}`, { cause });
    }
    return client;
  }

  function forget(client: Client): void {
    if (client === current) [current, connecting] = [undefined, undefined];
  }

  async function connect(): Promise<Client> {
    if (closing.signal.aborted) throw new Error(`The MCP server "${name}" has been closed.`);
    connecting ??= open().then(
      (client) => (current = client),
      (error: unknown) => {
        connecting = undefined;
        throw error;
      },
    );
    return connecting;
  }

  async function request(
    client: Client,
    params: McpCallParams,
    options: McpCallOptions,
  ): Promise<unknown> {
    return client.callTool(params, options);
  }

  return {
    name,
    get tools() {
      return tools;
    },
    async connect() {
      await connect();
    },
    async call(params, options) {
      const { signal } = options;
      try {
        const client = await connect();
        try {
          return await request(client, params, options);
        } catch (error) {
          if (signal.aborted || !isUnheard(error)) throw error;
          // The server was restarted: a request it never received may be sent again, once.
          forget(client);
          await client.close();
          return await request(await connect(), params, options);
        }
      } catch (cause) {
        signal.throwIfAborted();
        throw new AgentError("tool-error", `The MCP server "${name}" did not answer.`, { cause });
      }
    },
    async close() {
      closing.abort(closed());
      // What could not be connected has nothing to close.
      const client = await connecting?.catch(() => undefined);
      await client?.close();
    },
  };
}

async function toTransport(target: McpTarget): Promise<Transport> {
  if ("url" in target) {
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    const { url, headers } = target;
    return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  }
  const { StdioClientTransport, getDefaultEnvironment } =
    await import("@modelcontextprotocol/client/stdio");
  const { command, args, env, folder } = target;
  const all = { ...getDefaultEnvironment(), ...env };
  return new StdioClientTransport({ command, args: [...args], env: all, cwd: folder });
}

function within(ms: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  const late = (): Error =>
    new Error(`It did not answer within ${ms / 1000} s; increase "timeout" of the tool.`);
  return withDeadline(work, { ms, clock: processClock, signal, late });
}

const closed = (): Error => new Error("It was closed in the meantime.");

// Neither arguments nor query: both may hold secrets.
function placeOf(target: McpTarget): string {
  if (!("url" in target)) return target.command;
  const { origin, pathname } = new URL(target.url);
  return `${origin}${pathname}`;
}

// The session is unknown there, or the server is not reachable: the call cannot have been made.
function isUnheard(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, status } = cause as { code?: unknown; status?: unknown };
    if (status === 404 || code === "NOT_CONNECTED" || code === "ECONNREFUSED") return true;
    const { errors } = cause as { errors?: unknown };
    if (Array.isArray(errors) && errors.some(isUnheard)) return true;
  }
  return false;
}
