import type { CheckReport } from "../types.ts";

/** The data of one server-sent event. */
export interface Frame {
  readonly data: string;
  /** For the report: the line as it came. */
  readonly line: string;
}

export interface Frames {
  readonly frames: readonly Frame[];
  /** Something could not be read, so that what is missing later proves nothing. */
  readonly isGarbled: boolean;
}

/** Splits the bytes of a stream into frames and reports what is wrong with the framing. */
export function readFrames(bytes: Uint8Array, report: CheckReport): Frames {
  const text = readText(bytes, report);
  const frames: Frame[] = [];
  let isGarbled = false;
  report.show("frames");
  report.show("event-field");
  report.show("no-done");
  const blocks = text.split("\n\n");
  const rest = blocks.pop() ?? "";
  if (rest.trim() !== "") {
    report.break("frames", `The last frame has no blank line after it: ${rest.trim()}`);
    blocks.push(rest);
  }
  for (const block of blocks) {
    const lines = block.split("\n").filter((line) => line !== "");
    const data = lines.filter((line) => /^data(?::|$)/.test(line));
    const name = lines
      .find((line) => line.startsWith("event:"))
      ?.slice("event:".length)
      .trim();
    for (const line of lines) {
      if (line.startsWith(":")) report.show("keep-alive", `Seen: "${line.trim()}".`);
      else if (!/^(?:data|id|event|retry)(?::|$)/.test(line)) {
        isGarbled = true;
        report.break("frames", `A line that is not an SSE field: ${line}`);
      }
    }
    if (data.length === 0) continue;
    const frame = { data: data.map(valueOf).join("\n"), line: data[0]! };
    if (name !== undefined && name !== "") checkName(name, frame, report);
    if (frame.data.trim() === "[DONE]") report.break("no-done", frame.line);
    else frames.push(frame);
  }
  return { frames, isGarbled };
}

function readText(bytes: Uint8Array, report: CheckReport): string {
  report.show("utf-8");
  report.show("line-feeds");
  let text = new TextDecoder().decode(bytes);
  const at = text.indexOf("\uFFFD");
  if (at >= 0) {
    const around = text.slice(Math.max(0, at - 40), at + 20);
    report.break("utf-8", `Bytes that are not valid UTF-8, or a replacement character: ${around}`);
  }
  const cr = text.indexOf("\r");
  if (cr >= 0) {
    const line = text.slice(text.lastIndexOf("\n", cr) + 1, cr + 2);
    report.break("line-feeds", line.replaceAll("\r", "\\r").replaceAll("\n", "\\n"));
    text = text.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
  }
  return text;
}

function valueOf(line: string): string {
  return line.slice("data:".length).replace(/^ /, "");
}

function checkName(name: string, { data, line }: Frame, report: CheckReport): void {
  const isType = data.includes(`"${name}"`);
  if (name === "message" || isType) {
    const note = "Frames have `event:`; an EventSource then needs named listeners.";
    return report.show("event-field", note);
  }
  report.break("event-field", `event: ${name} before ${line}`);
}
