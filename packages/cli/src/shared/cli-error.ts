/** A failure that is printed as its message, without a stack. */
export class CliError extends Error {
  override readonly name = "CliError";
  /** 2 for wrong use, 1 for everything else. */
  readonly exitCode: number;

  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
  }
}

/** Wrong arguments on the command line. */
export function usageError(message: string): CliError {
  return new CliError(message, { exitCode: 2 });
}
