import { AgentFault, showFault } from "../../shared/agent-fault.ts";
import { CliError } from "../../shared/cli-error.ts";
import { AgentFileError } from "../../yaml/faults/agent-file-error.ts";

export interface ExplainOptions {
  /** The file that was asked for. */
  readonly file: string | undefined;
  readonly cwd: string;
  /** With the stack. */
  readonly debug: boolean;
}

/** Describes a failure for people. */
export function explainFailure(error: unknown, options: ExplainOptions): string {
  const text = describe(error, options);
  if (!options.debug) return `${text}\n`;
  const root = error instanceof CliError && error.cause instanceof Error ? error.cause : error;
  const stack = root instanceof Error ? (root.stack ?? "") : "";
  return `${text}\n${stack === "" ? "" : `\n${stack}\n`}`;
}

function describe(error: unknown, { file, cwd }: ExplainOptions): string {
  if (error instanceof AgentFault) return showFault(error.message, error.place, cwd);
  if (error instanceof AgentFileError || error instanceof CliError) return error.message;
  const message = error instanceof Error ? error.message : String(error);
  // An agent that is not ready has the reason in its cause. Checked by name: usage errors need no
  // library.
  const { name, cause } = (error ?? {}) as Partial<Error>;
  if (name === "AgentError" && cause instanceof Error) return `${message} ${cause.message}`;
  return file === undefined ? message : `${file}: ${message}`;
}
