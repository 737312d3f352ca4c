import type { Command, Io } from "../shared/io.ts";
import { CliError } from "../shared/cli-error.ts";
import { version } from "../version.ts";
import { explainFailure } from "./print/explain-failure.ts";
import { readFlags } from "./flags.ts";
import type { ServeFlags } from "./flags.ts";
import { serveUsage } from "./print/usage.ts";

/** `holodeck serve [file]`: serves until it is stopped. */
export const serveCommand: Command = async (args, io) => {
  let flags: ServeFlags | undefined;
  try {
    flags = readFlags(args);
    if (flags.help) return print(io, serveUsage);
    if (flags.version) return print(io, `${version}\n`);
    const { runServer } = await import("./run-server.ts");
    return await runServer(flags, io);
  } catch (error) {
    const { file, debug = false } = flags ?? {};
    io.err.write(explainFailure(error, { file, cwd: io.cwd, debug }));
    return error instanceof CliError ? error.exitCode : 1;
  }
};

function print(io: Io, text: string): number {
  io.out.write(text);
  return 0;
}
