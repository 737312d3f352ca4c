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

/** The events that name a call, and where; a snapshot has the ids in its messages. */
const places = {
  [EventType.TOOL_CALL_START]: "toolCallId",
  [EventType.TOOL_CALL_ARGS]: "toolCallId",
  [EventType.TOOL_CALL_END]: "toolCallId",
  [EventType.TOOL_CALL_CHUNK]: "toolCallId",
  [EventType.TOOL_CALL_RESULT]: "toolCallId",
  [EventType.REASONING_ENCRYPTED_VALUE]: "entityId",
  [EventType.SUBAGENT_STARTED]: "parentToolCallId",
  [EventType.MESSAGES_SNAPSHOT]: "messages",
} as const;

type NamingType = keyof typeof places;

export function namesCall({ type }: LooseEvent): boolean {
  return type in places;
}

/**
 * The ids of calls, as the agent gives them and as clients know them. Many agents number their calls from
 * zero in each turn: a call begun under the id of a call that has its result is another call and gets another id.
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
    const place = places[event.type as NamingType];
    if (place === "messages") {
      const sent = event.messages as readonly Message[];
      const messages = restate(sent, this);
      return messages === sent ? event : { ...event, messages };
    }
    const given = event[place];
    if (typeof given !== "string") return event;
    if (place === "entityId" && event.subtype !== "tool-call") return event;
    const id = this.#nameIn(event, given);
    if (id === given) return event;
    const named: LooseEvent = { ...event };
    named[place] = id;
    return named;
  }

  /** The agent's own end of its run, with the ids that clients know. */
  applyEnd(event: LooseEvent): LooseEvent {
    const outcome = (event.outcome ?? {}) as {
      pendingToolCallIds?: readonly string[];
      interrupts?: readonly Interrupt[];
    };
    const { pendingToolCallIds: ids, interrupts } = outcome;
    if (ids) {
      const pendingToolCallIds = mapChanged(ids, (id) => this.idOf(id));
      if (pendingToolCallIds === ids) return event;
      return { ...event, outcome: { ...outcome, pendingToolCallIds } };
    }
    const named = interrupts && this.withCalls(interrupts);
    return named === interrupts ? event : { ...event, outcome: { ...outcome, interrupts: named } };
  }

  /** Questions about calls, with the ids that clients know. */
  withCalls(interrupts: readonly Interrupt[]): readonly Interrupt[] {
    return mapChanged(interrupts, (one) => {
      const toolCallId = one.toolCallId && this.idOf(one.toolCallId);
      return toolCallId === one.toolCallId ? one : { ...one, toolCallId };
    });
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

  #nameIn(event: LooseEvent, id: string): string {
    const { type, toolCallName } = event;
    if (type === EventType.TOOL_CALL_START) return this.#begin(id, event);
    if (type === EventType.TOOL_CALL_ARGS) return this.#proceed(id, event);
    if (type === EventType.TOOL_CALL_CHUNK && toolCallName !== undefined) {
      return this.#begin(id, event);
    }
    // Goes on with what was begun.
    const goesOn = type === EventType.TOOL_CALL_CHUNK || type === EventType.TOOL_CALL_END;
    return goesOn ? this.#begunAs(id) : this.idOf(id);
  }

  #begunAs(id: string): string {
    return this.#now?.get(id) ?? id;
  }

  // Arguments of what was not begun begin it.
  #proceed(id: string, event: LooseEvent): string {
    const now = this.#begunAs(id);
    if (this.#parts.hasStarted(now) || !this.#earlier?.isAnswered(now)) return now;
    return this.#begin(id, event);
  }

  #begin(id: string, event: LooseEvent): string {
    return this.#note(id, this.#nameNew(id, event), event.parentMessageId);
  }

  #nameNew(id: string, { toolCallName, parentMessageId }: LooseEvent): string {
    const parts = this.#parts;
    const earlier = this.#earlier;
    const now = this.idOf(id);
    const isOther = this.#isAnswered(now) && !parts.isOpen("tool", now);
    if (!isOther) return now;
    // The server has made it on a person's answer, and the agent makes it again.
    if (!parts.hasStarted(now) && parts.origins?.isSettledCall(now, toolCallName ?? "")) return now;
    // Replayed as the thread has it.
    const again = this.callsOf(id).find(
      (call) => call.messageId === parentMessageId && earlier?.has(call.id),
    );
    const isSame = again && earlier?.find(again.id)?.name === toolCallName;
    return isSame ? again.id : this.#rename(id);
  }

  // A result that nothing called for is none of a call.
  #isAnswered(id: string): boolean {
    if (this.#earlier?.isAnswered(id)) return true;
    return this.#isCall(id) && this.#parts.isAnswered(id);
  }

  #rename(id: string): string {
    this.#run.repair("reused-call");
    for (let count = 1; ; count++) {
      const name = toLaterCallId(id, this.#run.runId, count);
      if (!this.#isCall(name)) return name;
    }
  }

  #isCall(id: string): boolean {
    return this.#parts.callName(id) !== undefined || this.#earlier?.has(id) === true;
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

/** The list itself when no item changes. */
function mapChanged<T>(list: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = list.map(change);
  return changed.every((one, at) => one === list[at]) ? list : changed;
}
