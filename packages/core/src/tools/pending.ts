import type { Interrupt, Message, ToolCall } from "@ag-ui/core";
import { answeredIn, callsIn } from "../base/calls-in.ts";
import type { RunSummary } from "../view/run-summary.ts";
import type { Pending, Session } from "../contract/session-store.ts";

interface Outcome {
  readonly pendingToolCallIds?: readonly string[];
  readonly interrupts?: readonly Interrupt[];
}

const none: readonly never[] = Object.freeze([]);

/**
 * What a thread waits for after a run, however that ended: calls of client tools, of this run and of earlier
 * ones, and interrupts with the calls they are about. `earlier` is what the run began with and did not answer.
 */
export function toPending(
  runId: string,
  summary: RunSummary,
  earlier: readonly Pending[] = none,
): readonly Pending[] {
  const outcome = (summary.terminal.outcome ?? {}) as Outcome;
  const { pendingToolCallIds = none, interrupts = none } = outcome;
  const { pendingCalls } = summary;
  // As after nearly every run.
  if (isEmpty(pendingToolCallIds, pendingCalls) && isEmpty(interrupts, earlier)) return none;
  const calls = new Set([...pendingToolCallIds, ...pendingCalls]);
  // Only the server answers a call that a user was asked about.
  for (const { toolCallId } of interrupts) if (toolCallId !== undefined) calls.delete(toolCallId);
  return [
    ...stillPending(earlier, summary.messages).filter(({ id }) => !calls.has(id)),
    ...toolsPending(runId, calls),
    ...interrupts.map((interrupt): Pending => {
      const asked = summary.asked.get(interrupt.id);
      // Under the id that the thread has.
      const call = asked && { ...asked, id: interrupt.toolCallId ?? asked.id };
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

/** What a thread waits for after a run that was lost: its messages are all that is known of it. */
export function toPendingAfterLoss(
  runId: string,
  { messages, pending }: Pick<Session, "messages" | "pending">,
  isServerTool: (name: string) => boolean,
): Pending[] {
  // What a person was asked can still be answered: the run that should have brought the answer is lost.
  const asked = pending.filter(({ kind }) => kind === "interrupt");
  const kept = [...asked, ...stillPending(pending, messages)];
  const known = new Set(kept.flatMap(({ id, value }) => [id, value.toolCallId]));
  const calls = openCalls(messages)
    .filter(({ id, function: { name } }) => !known.has(id) && !isServerTool(name))
    .map(({ id }) => id);
  return [...kept, ...toolsPending(runId, new Set(calls))];
}

function isEmpty(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === 0 && other.length === 0;
}

function toolsPending(runId: string, ids: ReadonlySet<string>): Pending[] {
  return [...ids].map((id) => ({ id, kind: "tool", runId, value: {} }));
}

// Of several calls a client may answer one and come back with the next. An interrupt is withdrawn when the
// next run does not answer it.
function stillPending(earlier: readonly Pending[], messages: readonly Message[]): Pending[] {
  const tools = earlier.filter(({ kind }) => kind === "tool");
  if (tools.length === 0) return tools;
  const open = new Set(openCalls(messages).map(({ id }) => id));
  return tools.filter(({ id }) => open.has(id));
}

function openCalls(messages: readonly Message[]): ToolCall[] {
  const answered = answeredIn(messages);
  return messages.flatMap(callsIn).filter(({ id }) => !answered.has(id));
}
