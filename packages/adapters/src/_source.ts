import { describeValue } from "@holodeck/agui-core/internal";
import type {
  AgentFunction,
  Awaitable,
  BaseEvent,
  RunAgentInput,
  RunContext,
} from "@holodeck/agui-core";

/**
 * The part of the run's context that an adapter uses: it reports tokens and questions, and logs.
 */
export type AdapterContext = Pick<RunContext, "emit"> & Partial<Pick<RunContext, "logger">>;

/** Asks a model for one answer. */
export type Ask<TSource> = (input: RunAgentInput, context: RunContext) => Awaitable<TSource>;

/** Reads a source, once it is there. */
export type Read<TSource> = (
  source: TSource,
  context?: AdapterContext,
) => AsyncGenerator<BaseEvent>;

/** An agent that calls the model and emits its output. */
export function toAgentFunction<TSource>(ask: Ask<TSource>, read: Read<TSource>): AgentFunction {
  return async function* (input, context) {
    yield* read(await ask(input, context), context);
  };
}

/** Throws for a value that is not iterable; the message states what the call takes. */
export function assertStream(call: string, value: unknown, wanted: string): void {
  const isStream = typeof value === "object" && value !== null && Symbol.asyncIterator in value;
  if (isStream) return;
  throw new TypeError(`${call} takes ${wanted}, not ${describeValue(value)}.`);
}
