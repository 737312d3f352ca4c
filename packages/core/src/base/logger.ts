import type { Logger } from "../contract/context.ts";

/** Discards all records. */
export const silentLogger: Logger = { debug: noop, info: noop, warn: noop, error: noop };

function noop(): void {}

/**
 * Wraps a logger that may throw, such as one whose worker has exited, so that its callers do not
 * fail.
 */
export class SafeLogger implements Logger {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  debug(fields: object, message?: string): void {
    this.#write("debug", fields, message);
  }

  info(fields: object, message?: string): void {
    this.#write("info", fields, message);
  }

  warn(fields: object, message?: string): void {
    this.#write("warn", fields, message);
  }

  error(fields: object, message?: string): void {
    this.#write("error", fields, message);
  }

  #write(level: keyof Logger, fields: object, message: string | undefined): void {
    try {
      this.#logger[level](fields, message);
    } catch {
      // The logger itself failed, so the error cannot be logged.
    }
  }
}
