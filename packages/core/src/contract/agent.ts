import type { RunContext } from "./context.ts";
import type { BaseEvent, EventType, RunAgentInput } from "@ag-ui/core";

export type Awaitable<T> = T | Promise<T>;

export type Json = Record<string, unknown>;

/** Anything with `subscribe`: an Observable of any rxjs copy qualifies. */
export interface Subscribable<T> {
  subscribe(observer: { next(value: T): void; error(reason: unknown): void; complete(): void }): {
    unsubscribe(): void;
  };
}

/** An event as an author writes it: AG-UI's own type, or a literal with the type's name as a string. */
export type AgentEvent = BaseEvent | ({ type: `${EventType}` } & Json);

/**
 * The smallest form of an agent. A yielded string is a text delta. A promise may resolve to nothing,
 * to a string (text, if none was emitted), to a result, or to one of the streams.
 */
export type AgentFunction = (
  input: RunAgentInput,
  context: RunContext,
) =>
  | Subscribable<AgentEvent | string>
  | AsyncIterable<AgentEvent | string>
  | Iterable<AgentEvent | string>
  | Promise<unknown>;

/** An agent as an object. An `AbstractAgent` of `@ag-ui/client` qualifies. */
export interface AgentObject {
  // Declared as a method, so that agents whose `run` takes only the input are assignable too.
  run(input: RunAgentInput, context: RunContext): ReturnType<AgentFunction>;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /**
   * Names of the tools that the agent runs itself. As with the handler's `tools`, their results are never
   * accepted from a client. A function may have this member too.
   */
  readonly serverTools?: readonly string[] | undefined;
  /** Called once by `start()`; throws when the agent cannot be served. */
  validate?(): Awaitable<void>;
  /** Called by `start()` after `validate`; the handler serves when it resolves. */
  ready?(): Awaitable<unknown>;
  /**
   * The capabilities of the agent, as AG-UI defines them; part of discovery, merged over what the
   * server knows.
   */
  getCapabilities?(): Awaitable<unknown>;
}

export type AgentLike = AgentFunction | AgentObject;
