import type { RunContext } from "./context.ts";
import type { BaseEvent, EventType, RunAgentInput } from "@ag-ui/core";

export type Awaitable<T> = T | Promise<T>;

export type Json = Record<string, unknown>;

/** Anything with `subscribe`: an Observable of any rxjs copy fits. */
export interface Subscribable<T> {
  subscribe(observer: { next(value: T): void; error(reason: unknown): void; complete(): void }): {
    unsubscribe(): void;
  };
}

/** An event as an author writes it: AG-UI's own type, or a literal with the type's name as a string. */
export type AgentEvent = BaseEvent | ({ type: `${EventType}` } & Json);

/**
 * An agent in its smallest form. A yielded string is a text delta. A promise may resolve to nothing,
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

/** An agent as an object. An `AbstractAgent` of `@ag-ui/client` fits. */
export interface AgentObject {
  // A method, so that agents whose `run` takes only the input fit too.
  run(input: RunAgentInput, context: RunContext): ReturnType<AgentFunction>;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /**
   * Names of the tools that the agent runs itself. Results of these are never taken from a client, as those
   * of the handler's `tools` are not. A function may have this member, too.
   */
  readonly serverTools?: readonly string[] | undefined;
  /** Called once by `start()`; throws when the agent cannot be served. */
  validate?(): Awaitable<void>;
  /** Called by `start()` after `validate`; the handler serves when it resolves. */
  ready?(): Awaitable<unknown>;
  /** What it can do, in AG-UI's words; part of discovery, over what the server knows of it. */
  getCapabilities?(): Awaitable<unknown>;
}

export type AgentLike = AgentFunction | AgentObject;
