import { AgentError, isAgentError } from "@holodeck/agui";
import type { Limits, Logger } from "@holodeck/agui";
import { toProblem } from "@holodeck/agui-core";
import type { Exchange, Json } from "@holodeck/agui-core";
import { playgroundFile } from "@holodeck/agui-playground";
import { version } from "../../version.ts";
import type { FailureBook } from "../print/failure-book.ts";
import type { Generations } from "../agent/generations.ts";
import type { HostGuard } from "./host-guard.ts";
import type { RepairBook } from "../print/repair-book.ts";

export interface AppOptions {
  readonly guard: HostGuard;
  readonly repairs: RepairBook;
  /** Why runs failed; absent where others than this machine may ask. */
  readonly failures: FailureBook | undefined;
  readonly hasPage: boolean;
  /** Receives a record of each request that is refused before it reaches the agent. */
  readonly logger: Logger;
  readonly agents: Pick<Generations, "use" | "limits" | "current">;
}

/** Everything below one address: the guard, the page's own routes, the agent, the page. */
export function createApp(options: AppOptions): { handle(exchange: Exchange): Promise<boolean> } {
  const { guard, repairs, failures, hasPage, agents, logger } = options;

  function describe(path: string): Json | undefined {
    if (path === "/_holodeck/info") {
      const { store: sessions } = agents.current;
      return { version, sessions, limits: toJson(agents.limits), playground: hasPage };
    }
    const [, runId, what] = /^\/_holodeck\/runs\/([^/]+)\/(repairs|failure)$/.exec(path) ?? [];
    if (runId === undefined) return undefined;
    return what === "repairs"
      ? { repairs: repairs.of(decode(runId)) }
      : { failure: failures?.of(decode(runId)) ?? null };
  }

  function refuse(exchange: Exchange, error: AgentError): void {
    const { method, path } = exchange;
    logger.info(
      { endpoint: `${method} ${path}`, status: error.status, latencyMs: 0, error: error.code },
      "Request answered.",
    );
    send(exchange, toProblem(error, { instance: path }));
  }

  async function handle(exchange: Exchange): Promise<boolean> {
    try {
      guard(exchange);
    } catch (error) {
      if (!isAgentError(error)) throw error;
      refuse(exchange, error);
      return true;
    }
    const isRead = exchange.method === "GET" || exchange.method === "HEAD";
    const own = isRead ? describe(exchange.path) : undefined;
    if (own) {
      const headers = { "content-type": "application/json", "cache-control": "no-store" };
      send(exchange, { status: 200, headers, body: JSON.stringify(own) });
      return true;
    }
    if (await agents.use((handler) => handler.handle(exchange))) return true;
    const file = hasPage && isRead ? playgroundFile(exchange.path) : undefined;
    if (file) send(exchange, { status: 200, ...file });
    else refuse(exchange, notFound(exchange));
    return true;
  }

  return { handle };
}

// JSON has no word for it.
function toJson(limits: Limits): Json {
  const entries = Object.entries(limits).map(([name, value]: [string, number]) => [
    name,
    Number.isFinite(value) ? value : null,
  ]);
  return Object.fromEntries(entries) as Json;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // No run has such an id.
    return text;
  }
}

function notFound({ method, path }: Exchange): AgentError {
  return new AgentError("not-found", `No route matches ${method} ${path}.`);
}

function send(
  exchange: Exchange,
  reply: { status: number; headers: Readonly<Record<string, string>>; body: string | Uint8Array },
): void {
  const sink = exchange.reply(reply.status, reply.headers);
  sink.write(reply.body);
  sink.end();
}
