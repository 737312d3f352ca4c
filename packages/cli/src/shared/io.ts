/** What a command talks to: a terminal, or a test. */
export interface Io {
  readonly out: NodeJS.WritableStream;
  readonly err: NodeJS.WritableStream;
  readonly input: NodeJS.ReadableStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** Runs with the arguments after its name; resolves with the process's exit code. */
export type Command = (args: readonly string[], io: Io) => Promise<number>;
