import { createReducer, EventType, systemClock } from "@holodeck/agui-core";
import { assertOptions, describeValue } from "@holodeck/agui-core/internal";
import type {
  Awaitable,
  BaseEvent,
  Clock,
  Message,
  Middleware,
  RunAgentInput,
  RunContext,
} from "@holodeck/agui-core";
import { withRunTimeout } from "./with-run-timeout.ts";

/** What there is to suggest questions from. */
export interface SuggestQuery {
  /** The conversation, the answer included. */
  readonly messages: readonly Message[];
  /** The agent's latest answer. */
  readonly answer: string;
  readonly input: RunAgentInput;
  readonly context: RunContext;
  /** Aborted when the time is over or the run has ended. */
  readonly signal: AbortSignal;
}

export interface SuggestQuestionsOptions {
  /** How long the end of a run may wait for them. By default 5 s. */
  timeoutMs?: number;
  /** For tests that hold time still. */
  clock?: Clock;
}

// A conversation larger than this is passed in part.
const maxBytes = 1024 * 1024;

/**
 * Sends questions the user may want to ask next, after the answer and before the end of the run, as a
 * CUSTOM event `suggested_questions`. When there are none, or they fail or take too long, the run
 * ends without.
 *
 * @example
 * ```ts
 * suggestQuestions(async ({ messages, signal }) => askSmallModel(messages, { signal }));
 * ```
 */
export function suggestQuestions(
  suggest: (query: SuggestQuery) => Awaitable<readonly string[] | null | undefined>,
  options: SuggestQuestionsOptions = {},
): Middleware {
  if (typeof suggest !== "function") {
    throw new TypeError(
      `suggestQuestions takes a function ({ messages, answer }) => string[], ` +
        `not ${describeValue(suggest)}.`,
    );
  }
  assertOptions("suggestQuestions", options, ["timeoutMs", "clock"]);
  const { timeoutMs = 5_000, clock = systemClock } = options;
  if (typeof timeoutMs !== "number" || !(timeoutMs > 0)) {
    throw new TypeError(
      `suggestQuestions's timeoutMs must be a number above 0, not ${describeValue(timeoutMs)}.`,
    );
  }

  return (input, context, next) => ({
    subscribe(observer) {
      const controller = new AbortController();
      const reducer = createReducer(input.messages, { maxBytes });
      let answer = "";
      let waiting: Promise<unknown> | undefined;
      /** What comes after the end that waits; the guard decides what becomes of it. */
      const later: (() => void)[] = [];

      async function ask(): Promise<void> {
        const query = { messages: reducer.messages, answer, input, context };
        const outcome = await withRunTimeout((signal) => suggest({ ...query, signal }), {
          ms: timeoutMs,
          clock,
          signal: controller.signal,
        });
        if (controller.signal.aborted) return;
        const { runId, logger } = context;
        if ("value" in outcome) {
          const value = toQuestions(outcome.value);
          if (value.length > 0) {
            observer.next({ type: EventType.CUSTOM, name: "suggested_questions", value });
          }
        } else {
          const why = "reason" in outcome ? `It took longer than ${timeoutMs} ms.` : "It failed.";
          logger.warn({ runId, why }, "No questions were suggested.");
          if ("error" in outcome) logger.debug({ runId, error: outcome.error }, "suggestQuestions");
        }
      }

      function passOn(forward: () => void): void {
        if (waiting) later.push(forward);
        else forward();
      }

      const subscription = next(input, context).subscribe({
        next(event) {
          reducer.apply(event);
          if (isAnswer(event)) answer += String(event.delta);
          if (!waiting && answer !== "" && isDone(event)) {
            waiting = ask()
              .catch((error: unknown) => context.logger.debug({ error }, "suggestQuestions"))
              .finally(() => {
                waiting = undefined;
                if (controller.signal.aborted) return;
                for (const forward of later.splice(0)) forward();
              });
          }
          passOn(() => observer.next(event));
        },
        error: (reason) => passOn(() => observer.error(reason)),
        complete: () => passOn(() => observer.complete()),
      });
      return {
        unsubscribe() {
          controller.abort();
          subscription.unsubscribe();
        },
      };
    },
  });
}

function isAnswer(event: BaseEvent): boolean {
  return event.type === EventType.TEXT_MESSAGE_CONTENT && event.subagentRunId === undefined;
}

// A user who was asked a question, or whose client has to run a tool, needs no other questions.
function isDone({ type, outcome }: BaseEvent): boolean {
  if (type !== EventType.RUN_FINISHED) return false;
  const { type: kind = "success", pendingToolCallIds = [] } = (outcome ?? {}) as {
    type?: string;
    pendingToolCallIds?: readonly string[];
  };
  return kind === "success" && pendingToolCallIds.length === 0;
}

function toQuestions(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((one): one is string => typeof one === "string")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}
