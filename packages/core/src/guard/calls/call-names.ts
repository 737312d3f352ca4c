import { EventType } from "@ag-ui/core";
import type { Interrupt, Message } from "@ag-ui/core";
import type { EarlierCalls } from "./earlier-calls.ts";
import type { LooseEvent } from "../shapes.ts";
import type { PartRepairs } from "../parts/parts.ts";
import type { Repairer } from "../repairs.ts";
import { restate } from "./restate.ts";
import type { CallBook, NamedCall } from "./restate.ts";
import { toLaterCallId } from "../../base/ids.ts";

const none: readonly NamedCall[] = [];

/** The events that name a call. */
const namingTypes: ReadonlySet<EventType> = new Set([
  EventType.TOOL_CALL_START,
  EventType.TOOL_CALL_ARGS,
  EventType.TOOL_CALL_END,
  EventType.TOOL_CALL_CHUNK,
  EventType.TOOL_CALL_RESULT,
  EventType.REASONING_ENCRYPTED_VALUE,
  EventType.SUBAGENT_STARTED,
  EventType.MESSAGES_SNAPSHOT,
]);

export function namesCall({ type }: LooseEvent): boolean {
  return namingTypes.has(type);
}

/**
 * The ids of calls, as the agent gives them and as clients know them. Many agents count their calls anew in each
 * turn: a call that is begun under the id of one that has its result is another call, with an id of its own.
 */
export class CallNames implements CallBook {
  readonly #run: Repairer & { readonly runId: string };
  readonly #parts: PartRepairs;
  /** The ids under which clients know the calls that the agent gave another id. */
  #now: Map<string, string> | undefined;
  /** The calls of this run, by the agent's ids. */
  #made: Map<string, NamedCall[]> | undefined;

  constructor(run: Repairer & { readonly runId: string }, parts: PartRepairs) {
    this.#run = run;
    this.#parts = parts;
  }

  /** An event that names a call, with the id that clients know, on a copy unless it has that. */
  apply(event: LooseEvent): LooseEvent {
    switch (event.type) {
      case EventType.TOOL_CALL_START:
        return withId(event, "toolCallId", (id) => this.#begin(id, event));
      case EventType.TOOL_CALL_CHUNK:
        return event.toolCallName === undefined
          ? this.#continue(event)
          : withId(event, "toolCallId", (id) => this.#begin(id, event));
      case EventType.TOOL_CALL_ARGS:
        return withId(event, "toolCallId", (id) => this.#proceed(id, event));
      case EventType.TOOL_CALL_END:
        return this.#continue(event);
      case EventType.REASONING_ENCRYPTED_VALUE:
        return event.subtype === "tool-call"
          ? withId(event, "entityId", (id) => this.idOf(id))
          : event;
      case EventType.SUBAGENT_STARTED:
        return withId(event, "parentToolCallId", (id) => this.idOf(id));
      case EventType.MESSAGES_SNAPSHOT: {
        const sent = event.messages as readonly Message[];
        const messages = restate(sent, this);
        return messages === sent ? event : { ...event, messages };
      }
      default:
        return withId(event, "toolCallId", (id) => this.idOf(id));
    }
  }

  /** The agent's own end of its run, with the ids that clients know. */
  applyEnd(event: LooseEvent): LooseEvent {
    const outcome = event.outcome as
      | { pendingToolCallIds?: readonly string[]; interrupts?: readonly Interrupt[] }
      | undefined;
    if (outcome?.pendingToolCallIds) {
      const pendingToolCallIds = outcome.pendingToolCallIds.map((id) => this.idOf(id));
      if (pendingToolCallIds.every((id, at) => id === outcome.pendingToolCallIds![at])) {
        return event;
      }
      return { ...event, outcome: { ...outcome, pendingToolCallIds } };
    }
    if (!outcome?.interrupts) return event;
    const interrupts = this.withCalls(outcome.interrupts);
    if (interrupts === outcome.interrupts) return event;
    return { ...event, outcome: { ...outcome, interrupts } };
  }

  /** Questions about calls, with the ids that clients know. */
  withCalls(interrupts: readonly Interrupt[]): readonly Interrupt[] {
    const isAsGiven = ({ toolCallId }: Interrupt): boolean =>
      toolCallId === undefined || this.idOf(toolCallId) === toolCallId;
    if (interrupts.every(isAsGiven)) return interrupts;
    return interrupts.map((one) =>
      isAsGiven(one) ? one : { ...one, toolCallId: this.idOf(one.toolCallId!) },
    );
  }

  /** The id under which clients know the call that the agent means by this one. */
  idOf(id: string): string {
    const now = this.#now?.get(id);
    if (now !== undefined) return now;
    const last = this.#earlier?.renamed(id).at(-1);
    return last && !last.isAnswered ? last.id : id;
  }

  callsOf(agentId: string): readonly NamedCall[] {
    const earlier = this.#earlier;
    const first = earlier?.find(agentId);
    const calls = [...(first ? [first] : none), ...(earlier?.renamed(agentId) ?? none)];
    const made = this.#made?.get(agentId) ?? none;
    return [...calls, ...made.filter(({ id }) => !calls.some((call) => call.id === id))];
  }

  isRenamed(agentId: string): boolean {
    return Boolean(this.#now?.has(agentId) || this.#earlier?.renamed(agentId).length);
  }

  add(agentId: string, messageId: string): string {
    const isFirst = !this.callsOf(agentId).some(({ id }) => id === agentId);
    return this.#note(agentId, isFirst ? agentId : this.#rename(agentId), messageId);
  }

  get #earlier(): EarlierCalls | undefined {
    return this.#parts.origins?.earlierCalls();
  }

  // Goes on with what was begun.
  #continue(event: LooseEvent): LooseEvent {
    return this.#now ? withId(event, "toolCallId", (id) => this.#now!.get(id) ?? id) : event;
  }

  // Arguments of what was not begun begin it.
  #proceed(id: string, event: LooseEvent): string {
    const now = this.#now?.get(id) ?? id;
    if (this.#parts.hasStarted(now) || !this.#earlier?.isAnswered(now)) return now;
    return this.#begin(id, event);
  }

  #begin(id: string, { toolCallName, parentMessageId }: LooseEvent): string {
    const parts = this.#parts;
    const now = this.idOf(id);
    const isOther = this.#isAnswered(now) && !parts.isOpen("tool", now);
    if (!isOther) return this.#note(id, now, parentMessageId);
    // The server has made it on a person's answer, and the agent makes it again.
    if (!parts.hasStarted(now) && this.#parts.origins?.isSettledCall(now, toolCallName ?? "")) {
      return this.#note(id, now, parentMessageId);
    }
    // Replayed as the thread has it.
    const again = this.callsOf(id).find(
      (call) => call.messageId === parentMessageId && this.#earlier?.has(call.id),
    );
    if (again && this.#earlier?.find(again.id)?.name === toolCallName) {
      return this.#note(id, again.id, parentMessageId);
    }
    return this.#note(id, this.#rename(id), parentMessageId);
  }

  // A result that nothing called for is none of a call.
  #isAnswered(id: string): boolean {
    const earlier = this.#earlier;
    if (earlier?.isAnswered(id)) return true;
    const isCall = this.#parts.callName(id) !== undefined || earlier?.has(id) === true;
    return isCall && this.#parts.isAnswered(id);
  }

  #rename(id: string): string {
    this.#run.repair("reused-call");
    const isUsed = (name: string): boolean =>
      this.#parts.callName(name) !== undefined || this.#earlier?.has(name) === true;
    for (let count = 1; ; count++) {
      const name = toLaterCallId(id, this.#run.runId, count);
      if (!isUsed(name)) return name;
    }
  }

  #note(agentId: string, id: string, parentMessageId: string | undefined): string {
    if (id !== agentId || this.#now) (this.#now ??= new Map<string, string>()).set(agentId, id);
    const made = (this.#made ??= new Map<string, NamedCall[]>());
    const before = made.get(agentId) ?? [];
    if (before.some((call) => call.id === id)) return id;
    // Without a parent the message of a call has the id of the call.
    made.set(agentId, [...before, { id, messageId: parentMessageId ?? id }]);
    return id;
  }
}

function withId(
  event: LooseEvent,
  key: "toolCallId" | "entityId" | "parentToolCallId",
  toId: (id: string) => string,
): LooseEvent {
  const before = event[key];
  if (typeof before !== "string") return event;
  const after = toId(before);
  if (after === before) return event;
  const named: LooseEvent = { ...event };
  named[key] = after;
  return named;
}
