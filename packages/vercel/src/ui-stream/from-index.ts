import { splitEntry } from "@holodeck/agui-core/internal";
import type { Encoder, LogEntry, ProtocolHost, RunRecord } from "@holodeck/agui-core";

/**
 * A UI message stream from a chunk on, as `WorkflowChatTransport` counts them. That client asks again until it has
 * received a `finish`, so a run that failed or was stopped ends with one, too.
 */
export function fromIndex(encoder: Encoder, index: number): Encoder {
  let left = index;
  let isFinished = false;

  function encode(entry: LogEntry): string {
    let text = "";
    for (const frame of framesOf(encoder, entry)) {
      isFinished ||= finish.test(frame);
      if (left > 0) left--;
      else text += frame;
    }
    return text;
  }

  const { encodeDeltas: _, ...rest } = encoder;
  return {
    ...rest,
    encode,
    close: () => `${isFinished ? "" : 'data: {"type":"finish"}\n\n'}${String(encoder.close?.())}`,
  };
}

/** How many chunks a run has so far. */
export async function countChunks(
  record: RunRecord,
  encoder: Encoder,
  { sessions }: ProtocolHost,
): Promise<number> {
  let count = 0;
  for (let after = 0; ;) {
    const entries = await sessions.runs.read(record, after, 256);
    for (const entry of entries) count += framesOf(encoder, entry).length;
    const last = entries.at(-1);
    if (!last) return count;
    after = last.to;
  }
}

const finish = /^data: \{"type":"finish"[,}]/m;

// Each delta is a chunk, whether it comes from the log or live.
function framesOf(encoder: Encoder, entry: LogEntry): string[] {
  return splitEntry(entry).flatMap(
    (one) => (encoder.encode(one) as string).match(/.+?\n\n/gs) ?? [],
  );
}
