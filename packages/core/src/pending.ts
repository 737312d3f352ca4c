import type { Interrupt, Message, RunAgentInput } from "@ag-ui/core";
import type { RunSummary } from "./run-types.ts";
import type { AskedCall, InterruptAnswer, Pending } from "./types.ts";

interface Outcome {
  readonly pendingToolCallIds?: readonly string[];
  readonly interrupts?: readonly Interrupt[];
}

/** What a run left to be answered: calls of client tools, and interrupts with the calls they are about. */
export function toPending(
  runId: string,
  summary: RunSummary,
  before: readonly Message[],
): Pending[] {
  const outcome = summary.terminal.outcome as Outcome | null | undefined;
  if (!outcome) return [];
  const { pendingToolCallIds, interrupts = [] } = outcome;
  const calls =
    pendingToolCallIds ?? (interrupts.length > 0 ? openCalls(summary.messages, before) : []);
  // Nobody but the server answers a call that a person was asked about.
  const asked = new Set(interrupts.map(({ toolCallId }) => toolCallId));
  return [
    ...calls
      .filter((id) => !asked.has(id))
      .map((id): Pending => ({ id, kind: "tool", runId, value: {} })),
    ...interrupts.map((interrupt): Pending => {
      const call = summary.asked.get(interrupt.id);
      const value = call ? { ...interrupt, call } : { ...interrupt };
      return { id: interrupt.id, kind: "interrupt", runId, value };
    }),
  ];
}

/** An open interrupt as clients receive it: without the call it is about, which only the server knows in full. */
export function interruptOf({ value }: Pending): Interrupt {
  const { call: _, ...interrupt } = value;
  return interrupt as unknown as Interrupt;
}

const noAnswers: readonly InterruptAnswer[] = Object.freeze([]);

/** The interrupts that `resume` answers. What is not pending is left out. */
export function toAnswers(
  pending: readonly Pending[],
  resume?: RunAgentInput["resume"],
): readonly InterruptAnswer[] {
  if (!resume || resume.length === 0) return noAnswers;
  return resume.flatMap(({ interruptId, status, payload }): InterruptAnswer[] => {
    const asked = pending.find(({ id, kind }) => kind === "interrupt" && id === interruptId);
    if (!asked) return [];
    const { call } = asked.value as { call?: AskedCall };
    return [
      {
        interrupt: interruptOf(asked),
        status,
        ...(payload === undefined ? {} : { payload }),
        ...(call === undefined ? {} : { call }),
      },
    ];
  });
}

// An end with interrupts does not name the calls that wait beside them.
function openCalls(messages: readonly Message[], before: readonly Message[]): string[] {
  const known = new Set(before.map(({ id }) => id));
  const answered = new Set(
    messages.flatMap((message) => (message.role === "tool" ? message.toolCallId : [])),
  );
  return messages
    .filter(({ id }) => !known.has(id))
    .flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
    .map(({ id }) => id)
    .filter((id) => !answered.has(id));
}
