import type { Frame, Wire } from "../../model.ts";
import { hexLines } from "./hex.ts";
import { textLines } from "./text-lines.ts";
import { formatBytes, formatMs } from "../shared/format.ts";

/** One line of the view of bytes; all have the same height. */
export interface ByteLine {
  readonly kind: "head" | "text" | "hex" | "note";
  readonly text: string;
  /** How the line ends on the wire: `\r\n`, `\n`, or `↩` where it was only broken to fit. */
  readonly end?: string;
  /** The readable column of a hex view. */
  readonly ascii?: string;
}

export interface LinesOptions {
  readonly wire: Wire;
  /** Characters that fit into a line. */
  readonly columns: number;
}

/** The answer as it came, frame by frame. */
export function toByteLines(frames: readonly Frame[], options: LinesOptions): ByteLine[] {
  const dropped = frames[0]?.index ?? 0;
  const lines: ByteLine[] = [];
  if (dropped > 0) {
    const what = dropped === 1 ? "The first frame is" : `The first ${dropped} frames are`;
    lines.push({ kind: "note", text: `${what} not kept any more.` });
  }
  for (const frame of frames) lines.push(...linesOf(frame, options));
  return lines;
}

// While an answer streams in, only the last frames are new.
const known = new WeakMap<Frame, LinesOptions & { lines: ByteLine[] }>();

function linesOf(frame: Frame, { wire, columns }: LinesOptions): ByteLine[] {
  const before = known.get(frame);
  if (before?.columns === columns && before.wire === wire) return before.lines;
  const lines = [headOf(frame, wire), ...bodyOf(frame, { wire, columns })];
  known.set(frame, { wire, columns, lines });
  return lines;
}

function bodyOf({ bytes, events }: Frame, { wire, columns }: LinesOptions): ByteLine[] {
  if (bytes.length === 0 && events.length > 0) {
    return [{ kind: "note", text: "The bytes of this frame are not kept any more." }];
  }
  return wire === "agui-proto" ? hexLines(bytes, columns) : textLines(bytes, columns);
}

function headOf({ index, at, bytes, events }: Frame, wire: Wire): ByteLine {
  const parts = [`#${index}`, formatMs(at), formatBytes(bytes.length)];
  if (wire === "agui-proto" && bytes.length > 0) parts.push(lengthOf(bytes));
  parts.push(events.map(({ type }) => type).join(", ") || "no event");
  return { kind: "head", text: parts.join(" · ") };
}

/** Protobuf's frames begin with four bytes that say how long the rest is. */
function lengthOf(bytes: Uint8Array): string {
  if (bytes.length < 4) return "no length";
  const length = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
  const rest = bytes.length - 4;
  return length === rest ? `length 4 + ${length}` : `length says ${length}, came ${rest}`;
}
