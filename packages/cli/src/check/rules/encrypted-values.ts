import { EventType } from "@ag-ui/core";
import { isRecord } from "@holodeck/agui-core/internal";
import type { CheckReport, ReadEvent } from "../types.ts";

/** `encryptedValueType` of AG-UI 1.1: a string, beside the value whose kind it is. */
export function checkEncryptedValues({ event, line }: ReadEvent, report: CheckReport): void {
  const holders: unknown[] = [];
  if (event.type === EventType.REASONING_ENCRYPTED_VALUE) holders.push(event);
  const { messages } = event;
  if (event.type === EventType.MESSAGES_SNAPSHOT && Array.isArray(messages)) {
    for (const message of messages as unknown[]) holders.push(message, ...callsOf(message));
  }
  for (const holder of holders) {
    if (!isRecord(holder) || holder.encryptedValueType === undefined) continue;
    report.show("encrypted-values");
    const isRight = typeof holder.encryptedValueType === "string";
    if (!isRight || typeof holder.encryptedValue !== "string") {
      report.break("encrypted-values", line);
    }
  }
}

function callsOf(message: unknown): readonly unknown[] {
  return isRecord(message) && Array.isArray(message.toolCalls) ? message.toolCalls : [];
}
