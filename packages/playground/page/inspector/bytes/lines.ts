import type { RecordedFrame, Wire } from "../../model.ts";
import { hexLines } from "./hex.ts";
import { textLines } from "./text-lines.ts";
import { formatBytes, formatCount, formatMs } from "../shared/format.ts";

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
  /** How many bytes were discarded, if known. */
  readonly dropped?: number;
}

/** The response as received, frame by frame. For frames without bytes it only has their number. */
export function toByteLines(frames: readonly RecordedFrame[], options: LinesOptions): ByteLine[] {
  const kept = frames.filter(({ bytes, events }) => bytes.length > 0 || events.length === 0);
  const lines = kept.flatMap((frame) => linesOf(frame, options));
  const lost = (frames[0]?.index ?? 0) + frames.length - kept.length;
  if (lost === 0) return lines;
  const size = options.dropped ? ` (${formatBytes(options.dropped)})` : "";
  const text = `The bytes of ${formatCount(lost, "frame")}${size} were discarded.`;
  return [{ kind: "note", text }, ...lines];
}

// While an answer streams in, only the last frames are new.
const known = new WeakMap<RecordedFrame, { columns: number; lines: ByteLine[] }>();

function linesOf(frame: RecordedFrame, { wire, columns }: LinesOptions): ByteLine[] {
  const before = known.get(frame);
  if (before?.columns === columns) return before.lines;
  const read = wire === "agui-proto" ? hexLines : textLines;
  const lines = [headOf(frame, wire), ...read(frame.bytes, columns)];
  known.set(frame, { columns, lines });
  return lines;
}

function headOf({ index, at, bytes, events }: RecordedFrame, wire: Wire): ByteLine {
  const parts = [`#${index}`, formatMs(at), formatBytes(bytes.length)];
  if (wire === "agui-proto" && bytes.length > 0) parts.push(lengthOf(bytes));
  parts.push(events.map(({ type }) => type).join(", ") || "no event");
  return { kind: "head", text: parts.join(" · ") };
}

/** Frames of protobuf start with the length of the rest in four bytes. */
function lengthOf(bytes: Uint8Array): string {
  if (bytes.length < 4) return "no length";
  const length = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
  const rest = bytes.length - 4;
  return length === rest ? `length 4 + ${length}` : `length is ${length}, received ${rest}`;
}
