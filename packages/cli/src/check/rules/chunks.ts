import { EventType } from "@ag-ui/core";
import type { Parts } from "./parts.ts";
import { toShownText } from "../types.ts";
import type { ReadEvent, CheckReport } from "../types.ts";

interface ChunkStream {
  readonly kind: "text" | "call" | "thought";
  readonly id: string;
}

const chunkTypes: Readonly<Record<string, readonly [kind: ChunkStream["kind"], idField: string]>> =
  {
    [EventType.TEXT_MESSAGE_CHUNK]: ["text", "messageId"],
    [EventType.TOOL_CALL_CHUNK]: ["call", "toolCallId"],
    [EventType.REASONING_MESSAGE_CHUNK]: ["thought", "messageId"],
  };

// These pass by without ending a stream of chunks.
const passing: ReadonlySet<string> = new Set([
  EventType.RAW,
  EventType.ACTIVITY_SNAPSHOT,
  EventType.ACTIVITY_DELTA,
  EventType.REASONING_ENCRYPTED_VALUE,
  EventType.SUBAGENT_STARTED,
]);

/** Follows streams of chunks: one per subagent, ended by any other event of that subagent. */
export function createChunks(
  parts: Parts,
  report: CheckReport,
): { take(read: ReadEvent): ChunkStream | void } {
  const lanes = new Map<unknown, ChunkStream>();
  return {
    take({ event, line }) {
      const chunk = chunkTypes[event.type];
      const owner = event["subagentRunId"];
      if (!chunk) {
        if (!passing.has(event.type)) lanes.delete(owner);
        if (event.type.startsWith("RUN_")) lanes.clear();
        return;
      }
      report.show("chunks");
      const [kind, field] = chunk;
      const id = event[field];
      const current = lanes.get(owner);
      if (id === undefined || (current?.kind === kind && current.id === id)) {
        if (current?.kind === kind) return current;
        return report.break("chunks", `A first chunk without ${field}: ${line}`);
      }
      if (kind === "call" && event["toolCallName"] === undefined) {
        return report.break("chunks", `A first chunk without toolCallName: ${line}`);
      }
      if (parts.isOpen(kind, toShownText(id))) {
        return report.break("chunks", `A part opened with START continues as a chunk: ${line}`);
      }
      const stream = { kind, id: toShownText(id) };
      lanes.set(owner, stream);
      return stream;
    },
  };
}
