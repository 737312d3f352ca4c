import type { Logger } from "@holodeck/agui-core";

type Level = "debug" | "info" | "warn" | "error";

/** One JSON line per record on standard error. Debug records only when asked for. */
export function jsonLogger(options: { debug?: boolean } = {}): Logger {
  const write = (level: Level) => (fields: object, message?: string) => {
    const record = { time: new Date().toISOString(), level, message, ...fields };
    // `console.error` is standard error wherever there is one, and exists everywhere else.
    // oxlint-disable-next-line no-console
    console.error(toLine(record));
  };
  return {
    debug: options.debug ? write("debug") : () => {},
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  };
}

function toLine(record: object): string {
  const seen = new Set<unknown>();
  try {
    return JSON.stringify(record, (_key, value: unknown) => {
      if (value instanceof Error)
        return { name: value.name, message: value.message, stack: value.stack };
      if (typeof value === "bigint") return String(value);
      if (typeof value === "object" && value !== null) {
        if (seen.has(value)) return "[again]";
        seen.add(value);
      }
      return value;
    });
  } catch (error) {
    return JSON.stringify({
      level: "error",
      message: `A log record is not JSON: ${String(error)}`,
    });
  }
}
