import { clip } from "@holodeck/agui-core/internal";
import { isAgentError } from "@holodeck/agui";
import type { Logger, LogLevel } from "@holodeck/agui";
import { allFrames, ownFrames } from "../stack-frames.ts";

const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

export interface ConsoleLoggerOptions {
  readonly level: LogLevel;
  /** With whole stacks, and the whole content of requests. */
  readonly debug: boolean;
}

/** Short lines for people: `12:00:01 warn  message  run 01J…  key=value`. */
export function consoleLogger(
  write: (line: string) => void,
  { level: least, debug }: ConsoleLoggerOptions,
): Logger {
  const writer = (level: LogLevel): Logger["info"] =>
    levels.indexOf(level) < levels.indexOf(least)
      ? () => {}
      : (fields, message) => write(toLine(level, { fields, message, debug }));
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
  readonly debug: boolean;
}

function toLine(level: LogLevel, { fields, message = "", debug }: Entry): string {
  const time = new Date().toTimeString().slice(0, 8);
  const answer = toAnswer(fields);
  if (answer) return `${time} ${level.padEnd(5)} ${answer}${debug ? toContent(fields) : ""}\n`;
  const { runId, error, err, ...rest } = fields as Record<string, unknown>;
  const failure = error ?? err;
  const parts = [
    `${time} ${level.padEnd(5)} ${oneLine(message)}`,
    ...(typeof runId === "string" ? [`run ${oneLine(runId)}`] : []),
    ...Object.entries(rest).flatMap(([key, value]) =>
      value === undefined ? [] : [`${key}=${show(value)}`],
    ),
    ...(failure === undefined ? [] : [`error=${describe(failure)}`]),
  ];
  const frames = failure instanceof Error ? (debug ? allFrames(failure) : ownFrames(failure)) : [];
  // Errors of clients, at other levels, are not in an author's code.
  const stack = level === "error" || debug ? frames.map((frame) => `\n    ${clean(frame)}`) : [];
  return `${parts.join("  ")}${stack.join("")}\n`;
}

function describe(failure: unknown): string {
  if (!(failure instanceof Error)) return show(failure);
  const cause = failure.cause instanceof Error ? ` (${failure.cause.message})` : "";
  const name = isAgentError(failure) ? failure.code : failure.name;
  return oneLine(`${name}: ${failure.message}${cause}`);
}

/** The record of a request: `POST /agui 200 in 34 ms  agent default  thread 01J…  12 tokens`. */
function toAnswer(fields: object): string | undefined {
  const { endpoint, status, latencyMs, protocol, agentId, sessionId, runId, tokens } =
    fields as Record<string, unknown>;
  if (typeof endpoint !== "string" || typeof latencyMs !== "number") return undefined;
  const { outcome, error } = fields as Record<string, unknown>;
  const named = { protocol, agent: agentId, thread: sessionId, run: runId };
  const total = (tokens as { total?: unknown } | undefined)?.total;
  return [
    `${oneLine(endpoint)} ${typeof status === "number" ? status : "-"} in ${latencyMs} ms`,
    ...Object.entries(named).flatMap(([name, value]) =>
      typeof value === "string" ? [`${name} ${oneLine(value)}`] : [],
    ),
    ...(total === undefined ? [] : [`${show(total)} tokens`]),
    ...(outcome === "cancelled" || outcome === "interrupt" ? [outcome] : []),
    ...(error === undefined ? [] : [`error=${describe(error)}`]),
  ].join("  ");
}

// In full: a log with content has all of it.
function toContent(fields: object): string {
  const { headers, input, output } = fields as Record<string, unknown>;
  return Object.entries({ headers, input, output })
    .flatMap(([name, value]) =>
      value === undefined ? [] : [`\n    ${name} ${clean(JSON.stringify(value))}`],
    )
    .join("");
}

const longest = 300;

function show(value: unknown): string {
  if (typeof value === "string") return /^[\w./:@+-]+$/.test(value) ? value : quote(value);
  try {
    return clip(clean(JSON.stringify(value) ?? String(value)), longest);
  } catch {
    // A circle, or a bigint.
    return clip(clean(String(value)), longest);
  }
}

function quote(text: string): string {
  return clip(clean(JSON.stringify(text)), longest);
}

function oneLine(text: string): string {
  return clean(text.replaceAll(/\s*\n\s*/g, " "));
}

// What a client sent must not steer the terminal that shows it.
function clean(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "\u{FFFD}");
}
