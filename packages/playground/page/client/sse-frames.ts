import { concatBytes } from "@holodeck/agui-core/internal";

// Server-sent events with the bytes they came in. Libraries give the events and forget the bytes.

/** One block up to its blank line, as it came and as it reads. */
export interface SseFrame {
  readonly bytes: Uint8Array;
  readonly event?: string;
  readonly data?: string;
  readonly id?: string;
}

const cr = 13;
const lf = 10;

/** Splits a stream of chunks into frames. What is left at the end without a blank line is one, too. */
export async function* sseFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<SseFrame> {
  let rest = new Uint8Array();
  let at = 0;
  let lineStart = 0;
  for await (const chunk of chunks) {
    rest = concatBytes([rest, chunk]);
    let frameStart = 0;
    while (at < rest.length) {
      const byte = rest[at];
      if (byte !== lf && byte !== cr) {
        at++;
        continue;
      }
      // May be half of CR LF.
      if (byte === cr && at + 1 === rest.length) break;
      const isBlank = at === lineStart;
      at += byte === cr && rest[at + 1] === lf ? 2 : 1;
      lineStart = at;
      if (!isBlank) continue;
      yield readFrame(rest.slice(frameStart, at));
      frameStart = at;
    }
    rest = rest.slice(frameStart);
    at -= frameStart;
    lineStart -= frameStart;
  }
  if (rest.length > 0) yield readFrame(rest);
}

/** The fields of a block; a comment alone has none. */
function readFrame(bytes: Uint8Array): SseFrame {
  const text = new TextDecoder().decode(bytes);
  const data: string[] = [];
  const frame: { bytes: Uint8Array; event?: string; data?: string; id?: string } = { bytes };
  for (const line of text.split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(":");
    if (colon === 0 || line === "") continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") data.push(value);
    else if (field === "event") frame.event = value;
    else if (field === "id") frame.id = value;
  }
  if (data.length > 0) frame.data = data.join("\n");
  return frame;
}
