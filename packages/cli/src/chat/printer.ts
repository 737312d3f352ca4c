import { EventType } from "@ag-ui/core";
import type { BaseEvent } from "@ag-ui/core";
import { toSafeLine, toSafeText } from "./safe-text.ts";

export interface PrinterOptions {
  readonly out: NodeJS.WritableStream;
  readonly isColoured: boolean;
}

/** Shows a run as it happens. No output of a server reaches the terminal as a control sequence. */
export interface Printer {
  show(event: BaseEvent): void;
  /** A line from this program. */
  line(text: string): void;
  error(text: string): void;
  /** Starts a new line for a question. */
  beforePrompt(): void;
}

const maxLine = 400;

export function createPrinter({ out, isColoured }: PrinterOptions): Printer {
  const paint = (code: number, text: string): string =>
    isColoured && text !== "" ? `\u001B[${code}m${text}\u001B[0m` : text;
  const dim = (text: string): string => paint(2, text);
  const calls = new Map<string, { name: string; args: string }>();
  // The part that the last characters on the screen belong to: deltas of one part are printed
  // together.
  let current: string | undefined;
  let isLineStart = true;

  function write(text: string, style: (plain: string) => string = (plain) => plain): void {
    if (text === "") return;
    out.write(style(text));
    isLineStart = text.endsWith("\n");
  }

  function breakLine(): void {
    if (!isLineStart) write("\n");
    current = undefined;
  }

  function line(text: string, style = dim): void {
    breakLine();
    write(`${text}\n`, (plain) => `${style(plain.slice(0, -1))}\n`);
  }

  function delta(key: string, text: unknown, style?: (plain: string) => string): void {
    if (typeof text !== "string") return;
    if (current !== key) breakLine();
    current = key;
    write(toSafeText(text), style);
  }

  function showResult({ content, toolCallId }: BaseEvent): void {
    const { name = "tool" } = calls.get(text(toolCallId)) ?? {};
    line(`← ${toSafeLine(name)} ${toSafeLine(text(content), maxLine)}`);
  }

  function show(event: BaseEvent): void {
    const id = text(event["messageId"] ?? event["toolCallId"]);
    switch (event.type) {
      case EventType.TEXT_MESSAGE_CONTENT:
        return delta(`text ${id}`, event["delta"]);
      case EventType.REASONING_MESSAGE_CONTENT:
        return delta(`thought ${id}`, event["delta"], dim);
      case EventType.TOOL_CALL_START:
        calls.set(id, { name: text(event["toolCallName"]), args: "" });
        return;
      case EventType.TOOL_CALL_ARGS:
        calls.get(id)!.args += text(event["delta"]);
        return;
      case EventType.TOOL_CALL_END: {
        const { name = "tool", args = "" } = calls.get(id) ?? {};
        return line(`→ ${toSafeLine(name)} ${toSafeLine(args, maxLine)}`, cyan);
      }
      case EventType.TOOL_CALL_RESULT:
        return showResult(event);
      case EventType.STATE_SNAPSHOT:
        return line(`state ${toSafeLine(keysOf(event["snapshot"]), maxLine)}`);
      case EventType.STATE_DELTA:
        return line(`state ${toSafeLine(pointersOf(event["delta"]), maxLine)}`);
      case EventType.STEP_STARTED:
        return line(`step ${toSafeLine(text(event["stepName"]))}`);
      case EventType.SUBAGENT_STARTED:
        return line(`subagent ${toSafeLine(text(event["name"]))}`);
      case EventType.ACTIVITY_SNAPSHOT: {
        const content = toSafeLine(text(event["content"]), maxLine);
        return line(`${toSafeLine(text(event["activityType"]))} ${content}`);
      }
      case EventType.RUN_ERROR: {
        const code = event["code"] === undefined ? "" : ` (${toSafeLine(text(event["code"]))})`;
        return error(`${toSafeText(text(event["message"]))}${code}`);
      }
      case EventType.RUN_FINISHED:
        if ((event["outcome"] as { type?: string } | undefined)?.type === "cancelled") {
          return line("The run was stopped.");
        }
        return breakLine();
      default:
    }
  }

  function cyan(plain: string): string {
    return paint(36, plain);
  }

  function error(message: string): void {
    for (const part of toSafeText(message).split("\n")) line(part, (plain) => paint(31, plain));
  }

  return {
    show,
    line: (shown) => line(toSafeText(shown)),
    error,
    beforePrompt() {
      breakLine();
      // Typed input ends with its own newline.
      isLineStart = true;
    },
  };
}

function text(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function keysOf(snapshot: unknown): string {
  if (typeof snapshot !== "object" || snapshot === null) return text(snapshot);
  return Object.keys(snapshot)
    .map((key) => `/${key}`)
    .join(" ");
}

function pointersOf(delta: unknown): string {
  if (!Array.isArray(delta)) return "";
  return delta.map((one: { path?: unknown }) => text(one.path) || "/").join(" ");
}
