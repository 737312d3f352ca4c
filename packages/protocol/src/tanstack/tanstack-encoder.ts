import { EventType } from "@holodeck/agui-core";
import { asText, isRecord } from "@holodeck/agui-core/internal";
import type { BaseEvent, Encoder, Json, LogEntry } from "@holodeck/agui-core";
import { aguiSseEncoder } from "../encode/sse-encoder.ts";
import { inputOf, toBoundInterrupt } from "./bound-interrupt.ts";
import type { KnownCall } from "./bound-interrupt.ts";

/** What a client has received already. */
export interface TanstackPlace {
  /** The offset of the last event. */
  readonly after: number;
  /** How many of the frames before the next event. */
  readonly extras: number;
}

/** The place in a `Last-Event-ID` of this encoder. */
export function readTanstackPlace(id: string | undefined): TanstackPlace {
  const [, after = "0", extras = "0"] = /^(\d{1,15})(?:\.(\d{1,3}))?$/.exec(id ?? "") ?? [];
  return { after: Number(after), extras: Number(extras) };
}

/**
 * AG-UI as TanStack AI reads it. Its tools run in the page when a custom event asks for it, which is sent before the end
 * of the run; its interrupts need further metadata. A client that has lost the end of the connection, and not of the
 * run, receives the end again, since it takes a response without one for a failure.
 */
export function tanstackEncoder(place: TanstackPlace): Encoder {
  const { key: _, encodeDeltas: __, ...encoder } = aguiSseEncoder();
  const calls = new Map<string, { name: string; args: string }>();
  let runId = "";
  let seenEnd: string | undefined;

  function note(event: BaseEvent): void {
    const id = asText(event.toolCallId) ?? "";
    if (event.type === EventType.RUN_STARTED) runId = asText(event.runId) ?? "";
    else if (event.type === EventType.TOOL_CALL_START) {
      calls.set(id, { name: asText(event.toolCallName) ?? "", args: "" });
    } else if (event.type === EventType.TOOL_CALL_ARGS) {
      const call = calls.get(id);
      if (call) call.args += asText(event.delta) ?? "";
    }
  }

  function encode(entry: LogEntry): string {
    const { event, to } = entry;
    note(event);
    const { outcome } = event;
    const isEnd = event.type === EventType.RUN_FINISHED || event.type === EventType.RUN_ERROR;
    if (!isEnd) return encoder.encode(entry) as string;
    const bound = { ...entry, event: withBindings(event) };
    if (to > 0 && to <= place.after) {
      seenEnd = encoder.encode({ ...bound, from: 0, to: 0 }) as string;
    }
    const waiting = isRecord(outcome) ? callsOf(outcome.pendingToolCallIds) : [];
    return `${extras(waiting, to)}${encoder.encode(bound) as string}`;
  }

  function callsOf(ids: unknown): [string, KnownCall][] {
    if (!Array.isArray(ids)) return [];
    return ids.flatMap((id: string) => {
      const call = calls.get(id);
      return call ? [[id, call] as [string, KnownCall]] : [];
    });
  }

  // Each has an id, so that a tool does not run twice after a cut between two of them.
  function extras(waiting: readonly [string, KnownCall][], to: number): string {
    const shown = to - 1 === place.after ? place.extras : 0;
    return waiting
      .map(([toolCallId, call], index) => {
        if (index < shown) return "";
        const value = { toolCallId, toolName: call.name, input: inputOf(call) };
        const data = JSON.stringify({ type: "CUSTOM", name: "tool-input-available", value });
        return `${to > 0 ? `id: ${to - 1}.${index + 1}\n` : ""}data: ${data}\n\n`;
      })
      .join("");
  }

  function withBindings(event: BaseEvent): BaseEvent {
    const { outcome } = event;
    if (!isRecord(outcome) || !Array.isArray(outcome.interrupts)) return event;
    const interrupts = outcome.interrupts.filter(isRecord).map((one: Json) => {
      const call = calls.get(asText(one.toolCallId) ?? "");
      return toBoundInterrupt(one, { runId, call });
    });
    return { ...event, outcome: { ...outcome, interrupts } };
  }

  return { ...encoder, encode, close: () => seenEnd ?? "" };
}
