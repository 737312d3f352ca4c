import { isAgentError } from "@holodeck/agui";
import type { Logger, LogLevel } from "@holodeck/agui";

const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

export interface ConsoleLoggerOptions {
  readonly level: LogLevel;
  /** With stacks of errors. */
  readonly stacks: boolean;
}

/** Short lines for people: `12:00:01 warn  message  run 01J…  key=value`. */
export function consoleLogger(
  write: (line: string) => void,
  { level: least, stacks }: ConsoleLoggerOptions,
): Logger {
  const writer = (level: LogLevel): Logger["info"] =>
    levels.indexOf(level) < levels.indexOf(least)
      ? () => {}
      : (fields, message) => write(toLine(level, { fields, message, stacks }));
  return {
    debug: writer("debug"),
    info: writer("info"),
    warn: writer("warn"),
    error: writer("error"),
  };
}

interface Entry {
  readonly fields: object;
  readonly message: string | undefined;
  readonly stacks: boolean;
}

function toLine(level: LogLevel, { fields, message = "", stacks }: Entry): string {
  const { runId, error, err, ...rest } = fields as Record<string, unknown>;
  const time = new Date().toTimeString().slice(0, 8);
  const failure = error ?? err;
  const parts = [
    `${time} ${level.padEnd(5)} ${oneLine(message)}`,
    ...(typeof runId === "string" ? [`run ${oneLine(runId)}`] : []),
    ...Object.entries(rest).flatMap(([key, value]) =>
      value === undefined ? [] : [`${key}=${show(value)}`],
    ),
    ...(failure === undefined ? [] : [`error=${describe(failure)}`]),
  ];
  const stack = stacks && failure instanceof Error ? `\n${stackOf(failure)}` : "";
  return `${parts.join("  ")}${stack}\n`;
}

function describe(failure: unknown): string {
  if (!(failure instanceof Error)) return show(failure);
  const cause = failure.cause instanceof Error ? ` (${failure.cause.message})` : "";
  const name = isAgentError(failure) ? failure.code : failure.name;
  return oneLine(`${name}: ${failure.message}${cause}`);
}

function stackOf({ stack = "" }: Error): string {
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  return frames.map((line) => `    ${clean(line.trim())}`).join("\n");
}

const longest = 300;

function show(value: unknown): string {
  if (typeof value === "string") return /^[\w./:@+-]+$/.test(value) ? value : quote(value);
  try {
    return shorten(clean(JSON.stringify(value) ?? String(value)));
  } catch {
    // A circle, or a bigint.
    return shorten(clean(String(value)));
  }
}

function quote(text: string): string {
  return shorten(clean(JSON.stringify(text)));
}

function shorten(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

function oneLine(text: string): string {
  return clean(text.replaceAll(/\s*\n\s*/g, " "));
}

// What a client sent must not steer the terminal that shows it.
function clean(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "\u{FFFD}");
}
