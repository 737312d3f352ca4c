import { describeValue } from "@holodeck/agui-core/internal";
import type {
  BaseEvent,
  Message,
  Middleware,
  Run,
  RunAgentInput,
  Subscribable,
} from "@holodeck/agui-core";

/** What middleware of `@ag-ui/client` is given to go on with: as much of an agent as it may use. */
export interface NextAgent {
  readonly agentId: string;
  readonly threadId: string;
  readonly description: string;
  readonly messages: readonly Message[];
  readonly state: unknown;
  run(input: RunAgentInput): ReturnType<Run>;
}

/** A function, or an object with `run`, as `agent.use()` of `@ag-ui/client` takes it. */
export type AguiMiddleware<TNext = NextAgent> =
  | { run(input: RunAgentInput, next: TNext): Subscribable<BaseEvent> }
  | ((input: RunAgentInput, next: TNext) => Subscribable<BaseEvent>);

/**
 * Middleware written for `agent.use()` of `@ag-ui/client`, such as its `FilterToolCallsMiddleware`,
 * as middleware of ours.
 *
 * @example
 * ```ts
 * const filter = new FilterToolCallsMiddleware({ disallowedToolCalls: ["delete_user"] });
 * createAgentHandler(agent, { middleware: [fromAguiMiddleware(filter)] });
 * ```
 */
export function fromAguiMiddleware<TNext = NextAgent>(
  middleware: AguiMiddleware<TNext>,
): Middleware {
  const isFit =
    typeof middleware === "function" ||
    typeof (middleware as Partial<typeof middleware> | null)?.run === "function";
  if (!isFit) {
    throw new TypeError(
      `fromAguiMiddleware takes a function (input, next) or an object with run(input, next), ` +
        `not ${describeValue(middleware)}.`,
    );
  }
  return (input, context, next) => {
    const agent: NextAgent = {
      agentId: context.agentId,
      threadId: context.threadId,
      description: "",
      messages: input.messages,
      state: input.state,
      run: (changed) => next(changed, context),
    };
    // Theirs is a whole `AbstractAgent` by type; a chain of theirs is handed no more than this either.
    const whole = agent as TNext;
    return typeof middleware === "function"
      ? middleware(input, whole)
      : middleware.run(input, whole);
  };
}
