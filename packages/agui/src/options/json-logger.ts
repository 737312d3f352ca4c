import { unknownName } from "@holodeck/agui-core/internal";
import type { Logger } from "@holodeck/agui-core";

/** How much is written, the most first. */
export type LogLevel = "debug" | "info" | "warn" | "error";

export interface JsonLoggerOptions {
  /** The same as `level: "debug"`. */
  debug?: boolean;
  /** The least that is written. By default `"info"`. */
  level?: LogLevel;
}

const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** One JSON line per record on standard error. Debug records only when asked for. */
export function jsonLogger(options: JsonLoggerOptions = {}): Logger {
  const { debug = false, level: least = debug ? "debug" : "info" } = options;
  if (!levels.includes(least)) throw unknownName("a level of jsonLogger", least, levels);
  const writer = (level: LogLevel): Logger["info"] =>
    levels.indexOf(level) < levels.indexOf(least) ? () => {} : write(level);
  const write = (level: LogLevel) => (fields: object, message?: string) => {
    const record = { time: new Date().toISOString(), level, message, ...fields };
    // `console.error` is standard error wherever there is one, and exists everywhere else.
    // oxlint-disable-next-line no-console
    console.error(toLine(record));
  };
  return {
    debug: writer("debug"),
    info: writer("info"),
    warn: writer("warn"),
    error: writer("error"),
  };
}

function toLine(record: object): string {
  const seen = new Set<unknown>();
  try {
    return JSON.stringify(record, (_key, value: unknown) => {
      if (typeof value === "bigint") return String(value);
      if (typeof value === "object" && value !== null) {
        if (seen.has(value)) return "[again]";
        seen.add(value);
      }
      return value instanceof Error ? toFields(value) : value;
    });
  } catch (error) {
    return JSON.stringify({
      level: "error",
      message: `A log record is not JSON: ${String(error)}`,
    });
  }
}

// The members of an error that JSON leaves out.
function toFields(error: Error): object {
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return { name, code, message, stack, cause };
}
