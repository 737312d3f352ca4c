import { parseArgs } from "node:util";
import type { ParseArgsConfig } from "node:util";
import { CliError, usageError } from "./cli-error.ts";
import type { Command, Io } from "./io.ts";

type Flags = NonNullable<ParseArgsConfig["options"]>;

/** The values of flags; those not given are absent. */
export type FlagValues<F extends Flags> = ReturnType<
  typeof parseArgs<{ options: F; allowPositionals: true }>
>["values"];

export interface CommandParts<F extends Flags, T> {
  readonly usage: string;
  /** All but `--help`, which every command has. */
  readonly flags: F;
  /** What is meant. Throws a `usageError` for wrong use. */
  read(values: FlagValues<F>, words: readonly string[]): T;
  run(options: T, io: Io): Promise<number>;
  /** A sentence for flags that cannot be parsed; by default Node's, followed by the usage. */
  explain?(error: NodeJS.ErrnoException): string;
}

/** A command that prints its usage on request, and exits with code 2 for wrong arguments. */
export function toCommand<const F extends Flags, T>(parts: CommandParts<F, T>): Command {
  const { usage, flags, read, run, explain = ({ message }) => `${message}\n\n${usage}` } = parts;
  const options = { ...flags, help: { type: "boolean", short: "h" } } as const;

  function parse(args: readonly string[]): { values: FlagValues<F>; words: readonly string[] } {
    try {
      const { values, positionals } = parseArgs({
        args: [...args],
        options,
        allowPositionals: true,
      });
      return { values, words: positionals };
    } catch (error) {
      throw usageError(explain(error as NodeJS.ErrnoException));
    }
  }

  return async (args, io) => {
    try {
      const { values, words } = parse(args);
      if (!(values as { help?: boolean }).help) return await run(read(values, words), io);
      io.out.write(usage);
      return 0;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      io.err.write(`${error.message}\n`);
      return error.exitCode;
    }
  };
}
