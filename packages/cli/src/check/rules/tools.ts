import { EventType } from "@ag-ui/core";
import type { createChunks } from "./chunks.ts";
import { isRecord } from "@holodeck/agui-core/internal";
import { toShownText } from "../types.ts";
import type { ReadEvent, CheckReport } from "../types.ts";

/** Watches the arguments and results of tool calls; `known` are the calls of the history. */
export function createTools(
  known: readonly string[],
  report: CheckReport,
): {
  take(read: ReadEvent, chunk: ReturnType<ReturnType<typeof createChunks>["take"]>): void;
  /** Unanswered calls, in order. */
  pending(): string[];
} {
  const args = new Map<string, string>();
  const answered = new Set<string>();

  function append(id: string, delta: unknown): void {
    args.set(id, (args.get(id) ?? "") + (typeof delta === "string" ? delta : ""));
  }

  function finish({ event, line }: ReadEvent): void {
    const { outcome } = event;
    const type = isRecord(outcome) ? outcome["type"] : undefined;
    // A call that was cut short has half its arguments, and may.
    if (type !== "cancelled") for (const [id, text] of args) checkArguments(id, text);
    const listed = isRecord(outcome) ? outcome["pendingToolCallIds"] : undefined;
    if (!Array.isArray(listed)) return;
    report.show("tool-results");
    const wrong = listed.find((id) => !args.has(toShownText(id)) || answered.has(toShownText(id)));
    if (wrong !== undefined)
      report.break("tool-results", `"${toShownText(wrong)}" is not open: ${line}`);
  }

  function checkArguments(id: string, text: string): void {
    report.show(
      "tool-args",
      text.trim() === "" ? "A call without arguments sent none." : undefined,
    );
    if (text.trim() === "") return;
    try {
      JSON.parse(text);
    } catch {
      // The parser's message depends on its version; the text itself is enough.
      report.break("tool-args", `The arguments of "${id}": ${text}`);
    }
  }

  return {
    take(read, chunk) {
      const { event, line } = read;
      const id = toShownText(event["toolCallId"]);
      if (chunk?.kind === "call") {
        report.show("tool-calls");
        append(chunk.id, event["delta"]);
      }
      switch (event.type) {
        case EventType.TOOL_CALL_START:
          return append(id, "");
        case EventType.TOOL_CALL_ARGS:
          return append(id, event["delta"]);
        case EventType.TOOL_CALL_RESULT:
          report.show("tool-results");
          if (!args.has(id) && !known.includes(id)) report.break("tool-results", line);
          answered.add(id);
          return;
        case EventType.RUN_FINISHED:
          return finish(read);
        default:
      }
    },
    pending: () => [...args.keys()].filter((id) => !answered.has(id)),
  };
}
