import type { Logger } from "../contract/context.ts";

/** Says nothing. */
export const silentLogger: Logger = { debug: noop, info: noop, warn: noop, error: noop };

function noop(): void {}

/** A logger that may fail, as one whose worker has gone does, without failing who logs. */
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
      // There is nobody left to tell.
    }
  }
}
