import type { Logger } from "./types.ts";

/** Says nothing. */
export const silentLogger: Logger = { debug: noop, info: noop, warn: noop, error: noop };

function noop(): void {}

/** A logger that may fail, as one whose worker has gone does, without failing who logs. */
export function safeLogger(logger: Logger): Logger {
  const write =
    (level: keyof Logger) =>
    (fields: object, message?: string): void => {
      try {
        logger[level](fields, message);
      } catch {
        // There is nobody left to tell.
      }
    };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}
