import { createParser } from "eventsource-parser";

/** What a stream of server-sent events has brought. */
export interface FrameReader {
  /** The id of the last frame that has one. */
  last: string | undefined;
  /** Whether something has come that cannot be asked for again. */
  isBeyond: boolean;
  /** Whether the run, or the message, is complete. */
  isOver: boolean;
  /** Reads what came over a new connection. */
  connected(): (bytes: Uint8Array) => void;
  /** Returns the frames that are complete, and forgets them. */
  take(): string;
}

/**
 * Reads frames. A server may write several for one entry of its log, and give an id to the last of them only: the
 * others are held until that one has come, so that none is passed on twice after a cut between them.
 */
export function createFrameReader(onId: (id: string) => void): FrameReader {
  let ready = "";
  let held = "";
  const frames: FrameReader = {
    last: undefined,
    isBeyond: false,
    isOver: false,
    connected() {
      held = "";
      const decoder = new TextDecoder();
      const parser = createParser({
        onEvent({ id, event, data }) {
          held += toFrame(id, event, data);
          if (id !== undefined) onId((frames.last = id));
          frames.isBeyond = frames.last === undefined;
          frames.isOver ||= isEnd(data);
          if (id === undefined && frames.last !== undefined && !frames.isOver) return;
          ready += held;
          held = "";
        },
      });
      return (bytes) => parser.feed(decoder.decode(bytes, { stream: true }));
    },
    take() {
      const taken = ready;
      ready = "";
      return taken;
    },
  };
  return frames;
}

function toFrame(id: string | undefined, event: string | undefined, data: string): string {
  const name = event === undefined ? "" : `event: ${event}\n`;
  const lines = `data: ${data.replaceAll("\n", "\ndata: ")}\n\n`;
  return id === undefined ? name + lines : `id: ${id}\n${name}${lines}`;
}

// The end of a run of AG-UI, or of a UI message stream.
function isEnd(data: string): boolean {
  if (data === "[DONE]") return true;
  if (!/"RUN_(FINISHED|ERROR)"/.test(data)) return false;
  try {
    return /^RUN_(FINISHED|ERROR)$/.test((JSON.parse(data) as { type: string }).type);
  } catch {
    return false;
  }
}
