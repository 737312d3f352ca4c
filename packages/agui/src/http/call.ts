import { ulid } from "@holodeck/agui-core";
import type { AgentRequest, Call, Exchange, RequestSubject } from "@holodeck/agui-core";

/** What is found out of a request while it is answered. */
export type RequestFindings = { -readonly [Name in keyof RequestSubject]: RequestSubject[Name] };

type CallInit = Pick<Call, "params" | "body" | "principal" | "requestId"> & {
  readonly findings: RequestFindings;
  /** How long the body was, where it was read here. */
  readonly bodyBytes?: number | undefined;
};

/** What a route is given of a request; its URL is parsed only when asked for. */
export function toCall(exchange: Exchange, rest: CallInit): Call {
  return new ExchangeCall(exchange, rest);
}

/** Adds to what is known of the request of a call: the ids that are given take the place of others. */
export function noteSubject(call: Call, { threadId, runId, agentId }: RequestSubject): void {
  if (!(call instanceof ExchangeCall)) return;
  const { findings } = call as unknown as CallInit;
  if (threadId !== undefined) findings.threadId = threadId;
  if (runId !== undefined) findings.runId = runId;
  if (agentId !== undefined) findings.agentId = agentId;
}

/**
 * Provides the request of a call later on: holds the exchange and not the call, whose body would
 * otherwise live as long as a run.
 */
export function requestOf(call: Call): { readonly request: AgentRequest } {
  const isOurs = call instanceof ExchangeCall && !Object.hasOwn(call, "request");
  return isOurs ? (call as unknown as { exchange: Exchange }).exchange : call;
}

/** How many bytes the body of a call had, where this handler has read it. */
export function bodyBytesOf(call: Call): number | undefined {
  return call instanceof ExchangeCall ? (call as unknown as CallInit).bodyBytes : undefined;
}

// A class: an object literal with getters gets a unique hidden class, which keeps its request alive
// until the next full collection.
class ExchangeCall implements Call {
  readonly params: Call["params"];
  readonly body: unknown;
  readonly principal: Call["principal"];
  readonly requestId: string;
  // Not `#`: a derived call inherits from this one.
  private readonly exchange: Exchange;
  private readonly findings: RequestFindings;
  private readonly bodyBytes: number | undefined;
  /** This call itself, also for the calls derived from it: what is made on first use is made once. */
  private readonly root: ExchangeCall = this;
  private madeQuery: URLSearchParams | undefined = undefined;
  private madeSignal: AbortSignal | undefined = undefined;

  constructor(exchange: Exchange, rest: CallInit) {
    this.params = rest.params;
    this.body = rest.body;
    this.principal = rest.principal;
    this.requestId = rest.requestId;
    this.exchange = exchange;
    this.findings = rest.findings;
    this.bodyBytes = rest.bodyBytes;
  }

  get request(): AgentRequest {
    return this.exchange.request;
  }

  get query(): URLSearchParams {
    // Not of `request`: a URL and headers that no code reads were 4 % of a chat's CPU.
    return (this.root.madeQuery ??= new URLSearchParams(this.exchange.query));
  }

  get signal(): AbortSignal {
    return (this.root.madeSignal ??= signalOf(this.exchange));
  }

  // Getters, so that the functions work when they are taken out of their call.
  get onLeave(): Call["onLeave"] {
    return (listener) => this.exchange.onLeave(listener);
  }

  get header(): Call["header"] {
    return (name) => this.exchange.header(name);
  }

  get bytes(): Call["bytes"] {
    return () => this.exchange.body();
  }
}

function signalOf(exchange: Exchange): AbortSignal {
  const controller = new AbortController();
  exchange.onLeave(() => controller.abort());
  return controller.signal;
}

/** The path below `base`; nothing when it is not below it. */
export function stripBase(path: string, base: string): string | undefined {
  if (base === "") return path;
  if (path === base) return "/";
  return path.startsWith(`${base}/`) ? path.slice(base.length) : undefined;
}

/** The caller's own id when it is harmless, so that its logs and ours can be joined; else a new one. */
export function toRequestId(given: string | undefined): string {
  return given !== undefined && /^[\w.:-]{1,128}$/.test(given) ? given : ulid();
}
