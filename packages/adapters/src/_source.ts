import { describeValue } from "@holodeck/agui-core/internal";
import type {
  AgentFunction,
  Awaitable,
  BaseEvent,
  RunAgentInput,
  RunContext,
} from "@holodeck/agui-core";

/** As much of the run's context as an adapter uses: it tells tokens and questions, and logs. */
export type AdapterContext = Pick<RunContext, "emit"> & Partial<Pick<RunContext, "logger">>;

/** Asks a model for one answer. */
export type Ask<TSource> = (input: RunAgentInput, context: RunContext) => Awaitable<TSource>;

/** Reads a source, once it is there. */
export type Read<TSource> = (
  source: TSource,
  context?: AdapterContext,
) => AsyncGenerator<BaseEvent>;

/** The agent that asks, and says what it is told. */
export function toAgentFunction<TSource>(ask: Ask<TSource>, read: Read<TSource>): AgentFunction {
  return async function* (input, context) {
    yield* read(await ask(input, context), context);
  };
}

/** Throws for what cannot be iterated, and says what the call takes. */
export function assertStream(call: string, value: unknown, wanted: string): void {
  const isStream = typeof value === "object" && value !== null && Symbol.asyncIterator in value;
  if (isStream) return;
  throw new TypeError(`${call} takes ${wanted}, not ${describeValue(value)}.`);
}
