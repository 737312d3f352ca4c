import type { Command, Io } from "../shared/io.ts";
import { CliError } from "../shared/cli-error.ts";
import { toCommand } from "../shared/to-command.ts";
import { version } from "../version.ts";
import { explainFailure } from "./print/explain-failure.ts";
import { explainFlag, readFlags, serveFlags } from "./flags.ts";
import type { ServeFlags } from "./flags.ts";
import { serveUsage } from "./print/usage.ts";

/** `holodeck serve [file]`: serves until it is stopped. */
export const serveCommand: Command = toCommand({
  usage: serveUsage,
  flags: serveFlags,
  read: readFlags,
  run: serve,
  explain: explainFlag,
});

async function serve(flags: ServeFlags, io: Io): Promise<number> {
  if (flags.version) {
    io.out.write(`${version}\n`);
    return 0;
  }
  try {
    const { runServer } = await import("./run-server.ts");
    return await runServer(flags, io);
  } catch (error) {
    const { file, debug } = flags;
    io.err.write(explainFailure(error, { file, cwd: io.cwd, debug }));
    return error instanceof CliError ? error.exitCode : 1;
  }
}
