import type { Awaitable, Subscribable } from "./agent.ts";
import type { AgentRequest, Logger, Principal, RunContext } from "./context.ts";
import type { Reply } from "./exchange.ts";
import type { SessionStore } from "./session-store.ts";
import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import type { Observable } from "rxjs";

export type Run = (input: RunAgentInput, context: RunContext) => Observable<BaseEvent>;

/** Run level. Any Observable may be returned, of any rxjs copy; `next` gives ours. */
export type Middleware = (
  input: RunAgentInput,
  context: RunContext,
  next: Run,
) => Subscribable<BaseEvent>;

/** What a handler lends to middleware that admits runs; without a handler there is none. */
export interface AdmitHost {
  /** The handler's, so that what is counted there is counted once for all processes. */
  readonly sessions: Pick<SessionStore, "take">;
}

/** What a middleware may know of the handler it works in. */
export interface HandlerFacts {
  readonly logger: Logger;
  readonly debug: boolean;
}

/** Which run a request is about; what is not known of it is absent. */
export interface RequestSubject {
  readonly threadId?: string | undefined;
  readonly runId?: string | undefined;
  readonly agentId?: string | undefined;
}

/**
 * What a middleware may know of a request besides what the client sent. Its subject is known once the request
 * is answered, if it is about a thread or a run.
 */
export interface RequestFacts extends RequestSubject {
  readonly requestId: string;
  /** Which protocol answers; known once the request is answered, if one does. */
  readonly protocol: string | undefined;
}

/** Handler level, in four stages. */
export interface HandlerMiddleware {
  readonly name: string;
  /** Stands for the handler's option of that name; at most one middleware has it. */
  authenticate?(request: AgentRequest): Awaitable<Principal | null>;
  /** Called once by each handler that it is given to; what it returns takes its place there. */
  mount?(handler: HandlerFacts): HandlerMiddleware;
  /** Around every request, preflights and errors included. May change status and headers of the reply. */
  request?(request: AgentRequest, next: () => Promise<Reply>, facts?: RequestFacts): Promise<Reply>;
  /** After decoding, before lease and first byte. A thrown `AgentError` is an HTTP answer. */
  admit?(input: RunAgentInput, context: RunContext, host?: AdmitHost): Awaitable<void>;
  run?: Middleware;
}
