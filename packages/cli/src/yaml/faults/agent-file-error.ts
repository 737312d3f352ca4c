/** One thing that is wrong with an agent file, and what would be right. */
export interface AgentFileFault {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  readonly message: string;
}

/** An agent file that cannot be used, with everything that is wrong with it. */
export class AgentFileError extends Error {
  override readonly name = "AgentFileError";
  readonly file: string;
  readonly faults: readonly AgentFileFault[];
  /** What was looked at: a change of one of them may mend it. */
  readonly files: readonly string[];

  constructor(file: string, faults: readonly AgentFileFault[], files: readonly string[] = [file]) {
    const sorted = faults.toSorted((a, b) => a.line - b.line || a.column - b.column);
    const count = sorted.length === 1 ? "1 fault" : `${sorted.length} faults`;
    const list = sorted.map(({ line, column, message }) => `${file}:${line}:${column} ${message}`);
    super(`${file} has ${count}:\n${list.map((one) => `  ${one}`).join("\n")}`);
    this.file = file;
    this.faults = sorted;
    this.files = files;
  }
}
