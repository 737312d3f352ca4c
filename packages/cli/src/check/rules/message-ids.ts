import { EventType } from "@ag-ui/core";
import type { createChunks } from "./chunks.ts";
import { toShownText } from "../types.ts";
import type { ReadEvent, CheckReport } from "../types.ts";

const kinds: Readonly<Record<string, string>> = {
  [EventType.TEXT_MESSAGE_START]: "a text message",
  [EventType.REASONING_MESSAGE_START]: "reasoning",
  [EventType.TOOL_CALL_RESULT]: "a tool result",
  [EventType.ACTIVITY_SNAPSHOT]: "an activity",
};

/** Watches that an id stays with one message; `history` are the ids the thread has already. */
export function createMessageIds(
  history: readonly string[],
  report: CheckReport,
): { take(read: ReadEvent, chunk: ReturnType<ReturnType<typeof createChunks>["take"]>): void } {
  const kindOf = new Map<string, string>(history.map((id) => [id, "a message of the history"]));

  function claim(id: string, kind: string, line: string): void {
    report.show("message-ids");
    const other = kindOf.get(id);
    if (other === undefined) kindOf.set(id, kind);
    else if (other !== kind) report.break("message-ids", `"${id}" is ${other} already: ${line}`);
    else if (kind !== "an activity") {
      report.show("message-ids", `"${id}" is opened twice; clients append to the first.`);
    }
  }

  return {
    take({ event, line }, chunk) {
      if (chunk && chunk.kind !== "call") {
        report.show(chunk.kind === "text" ? "text" : "reasoning");
        const kind = chunk.kind === "text" ? "a text message" : "reasoning";
        if (kindOf.get(chunk.id) !== kind) claim(chunk.id, kind, line);
      }
      const kind = kinds[event.type];
      if (kind) claim(toShownText(event["messageId"]), kind, line);
    },
  };
}
