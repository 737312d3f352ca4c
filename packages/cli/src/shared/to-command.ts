import { UsageError } from "../chat/target.ts";
import type { Command, Io } from "./io.ts";

export interface CommandParts<T> {
  readonly usage: string;
  /** Nothing when help was asked for. Throws a `UsageError` for wrong use. */
  read(args: readonly string[]): T | undefined;
  run(options: T, io: Io): Promise<number>;
}

/** A command that prints its usage on request, and exits with code 2 for wrong arguments. */
export function toCommand<T>({ usage, read, run }: CommandParts<T>): Command {
  return async (args, io) => {
    try {
      const options = read(args);
      if (options !== undefined) return await run(options, io);
      io.out.write(usage);
      return 0;
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      io.err.write(`${error.message}\n`);
      return 2;
    }
  };
}
