import { lastUserText, systemClock } from "@holodeck/agui-core";
import { assertOptions, describeValue } from "@holodeck/agui-core/internal";
import type {
  Awaitable,
  Clock,
  Middleware,
  Principal,
  RunAgentInput,
  RunContext,
} from "@holodeck/agui-core";
import { withRunTimeout } from "./with-run-timeout.ts";

type ContextItem = RunAgentInput["context"][number];

/** What a provider may go by. */
export interface ContextQuery {
  /** The last user message, as text. */
  readonly message: string;
  readonly principal: Principal | undefined;
  readonly input: RunAgentInput;
  readonly context: RunContext;
  /** Aborted when its time is over or the run has ended. */
  readonly signal: AbortSignal;
}

/** Nothing, a text, or items as AG-UI has them. */
export type ProvidedContext =
  | string
  | ContextItem
  | readonly ContextItem[]
  | null
  | undefined
  | void;

/** Finds what an agent should know: a profile, memories, documents. May have its own timeout. */
export type ContextProvider =
  | ((query: ContextQuery) => Awaitable<ProvidedContext>)
  | { provide(query: ContextQuery): Awaitable<ProvidedContext>; timeoutMs?: number };

export interface InjectContextOptions {
  /** How long each provider may take. By default 2 s. */
  timeoutMs?: number;
  /** For tests that hold time still. */
  clock?: Clock;
}

/**
 * Adds the results of providers, given as a list or by name, to `input.context`: all are called at once, and
 * their results keep their order. A provider that fails or takes too long is logged and left out. Clients
 * receive none of it.
 *
 * @example
 * ```ts
 * injectContext({
 *   "user profile": ({ principal }) => loadProfile(principal),
 *   documents: ({ message, signal }) => search(message, { signal }),
 * });
 * ```
 */
export function injectContext(
  providers: Readonly<Record<string, ContextProvider>> | readonly ContextProvider[],
  options: InjectContextOptions = {},
): Middleware {
  assertOptions("injectContext", options, ["timeoutMs", "clock"]);
  const { timeoutMs = 2_000, clock = systemClock } = options;
  assertTime(timeoutMs);
  const sources = toSources(providers, timeoutMs);

  async function gather(
    input: RunAgentInput,
    context: RunContext,
    signal: AbortSignal,
  ): Promise<ContextItem[]> {
    const message = lastUserText(input);
    const { principal } = context;
    const found = await Promise.all(
      sources.map(async ({ name, ms, provide }): Promise<ContextItem[]> => {
        const outcome = await withRunTimeout(
          (signal) => provide({ message, principal, input, context, signal }),
          { ms, clock, signal },
        );
        try {
          if ("value" in outcome) return toItems(name, outcome.value);
          if ("error" in outcome) throw outcome.error;
          if (outcome.reason === "timeout") skip(context, name, `It took longer than ${ms} ms.`);
        } catch (error) {
          skip(context, name, "It failed.");
          // The error may quote what the provider read; it is logged at debug level only.
          context.logger.debug({ provider: name, error }, "A context provider failed.");
        }
        return [];
      }),
    );
    return found.flat();
  }

  return (input, context, next) => ({
    subscribe(observer) {
      const controller = new AbortController();
      let subscription: { unsubscribe(): void } | undefined;
      gather(input, context, controller.signal)
        .then((items) => {
          if (controller.signal.aborted) return;
          const enriched = { ...input, context: [...input.context, ...items] };
          subscription = next(enriched, context).subscribe(observer);
        })
        .catch((error: unknown) => observer.error(error));
      return {
        unsubscribe() {
          controller.abort();
          subscription?.unsubscribe();
        },
      };
    },
  });
}

function skip({ logger, runId }: RunContext, provider: string, why: string): void {
  logger.warn({ provider, runId, why }, "A context provider was left out.");
}

function toItems(name: string, value: ProvidedContext): ContextItem[] {
  if (value === undefined || value === null || value === "") return [];
  if (typeof value === "string") return [{ description: name, value }];
  const items = (Array.isArray(value) ? value : [value]) as readonly unknown[];
  return items.map((item) => {
    const { description = name, value: text } = (item ?? {}) as Partial<ContextItem>;
    if (typeof description === "string" && typeof text === "string") {
      return { description, value: text };
    }
    throw new TypeError(
      "A context provider must return a string or { description, value } of strings.",
    );
  });
}

interface Source {
  readonly name: string;
  readonly ms: number;
  provide(query: ContextQuery): Awaitable<ProvidedContext>;
}

function toSources(providers: unknown, timeoutMs: number): Source[] {
  const example = 'injectContext({ "user profile": ({ principal }) => … })';
  if (typeof providers !== "object" || providers === null) {
    throw new TypeError(`injectContext takes ${example}, not ${describeValue(providers)}.`);
  }
  const isList = Array.isArray(providers);
  return Object.entries(providers).map(([key, provider]: [string, unknown]) => {
    const provide: unknown = typeof provider === "function" ? provider : toProvide(provider);
    if (typeof provide !== "function") {
      throw new TypeError(
        `injectContext's provider "${key}" must be a function, like ${example}, ` +
          `not ${describeValue(provider)}.`,
      );
    }
    const { timeoutMs: ms = timeoutMs } = provider as { timeoutMs?: number };
    assertTime(ms);
    const name = isList ? (provider as { name?: string }).name || `context ${key}` : key;
    return { name, ms, provide: (query) => provide.call(provider, query) as ProvidedContext };
  });
}

function toProvide(provider: unknown): unknown {
  return (provider as { provide?: unknown } | null | undefined)?.provide;
}

function assertTime(value: unknown): void {
  if (typeof value === "number" && value > 0) return;
  throw new TypeError(
    `injectContext's timeoutMs must be a number above 0, not ${describeValue(value)}.`,
  );
}
