import type { Awaitable, Subscribable } from "./agent.ts";
import type { AgentRequest, Logger, Principal, RunContext } from "./context.ts";
import type { Reply } from "./exchange.ts";
import type { SessionStore } from "./session-store.ts";
import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import type { Observable } from "rxjs";

export type Run = (input: RunAgentInput, context: RunContext) => Observable<BaseEvent>;

/** Run-level middleware. Any Observable may be returned, of any rxjs copy; `next` returns ours. */
export type Middleware = (
  input: RunAgentInput,
  context: RunContext,
  next: Run,
) => Subscribable<BaseEvent>;

/** What a handler provides to middleware that admits runs; absent without a handler. */
export interface AdmitHost {
  /** The handler's store, so that counts are shared by all processes. */
  readonly sessions: Pick<SessionStore, "take">;
}

/** What a middleware may know about its handler. */
export interface HandlerFacts {
  readonly logger: Logger;
  readonly debug: boolean;
}

/** The run a request is about; unknown members are absent. */
export interface RequestSubject {
  readonly threadId?: string | undefined;
  readonly runId?: string | undefined;
  readonly agentId?: string | undefined;
}

/**
 * What a middleware may know about a request besides what the client sent. Its subject is known once the
 * request is answered, if it is about a thread or a run.
 */
export interface RequestFacts extends RequestSubject {
  readonly requestId: string;
  /** The protocol that answers; known once the request is answered, if a protocol answers it. */
  readonly protocol: string | undefined;
  /**
   * Set it to true when the page that sends the request may do so from its origin, as `cors` does. A request that
   * changes something, and that a page of another site can send without asking, is refused otherwise.
   */
  isAllowedOrigin?: boolean;
}

/** Handler-level middleware, in four stages. */
export interface HandlerMiddleware {
  readonly name: string;
  /** Replaces the handler's option of that name; at most one middleware has it. */
  authenticate?(request: AgentRequest): Awaitable<Principal | null>;
  /** Called once by each handler that uses it; the returned middleware is used there instead. */
  mount?(handler: HandlerFacts): HandlerMiddleware;
  /** Around every request, preflights and errors included. May change status and headers of the reply. */
  request?(request: AgentRequest, next: () => Promise<Reply>, facts?: RequestFacts): Promise<Reply>;
  /**
   * After decoding, before the lease and the first byte. A thrown `AgentError` becomes an HTTP
   * response.
   */
  admit?(input: RunAgentInput, context: RunContext, host?: AdmitHost): Awaitable<void>;
  run?: Middleware;
}
