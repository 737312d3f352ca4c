import type { Io } from "../shared/io.ts";

/** The exit codes of a process ended by a signal. */
const codes = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Waits for SIGINT or SIGTERM, then for `close`; resolves with the exit code. A second signal ends the
 * process at once.
 */
export async function untilSignal(
  close: () => Promise<void>,
  { out, err }: Pick<Io, "out" | "err">,
): Promise<number> {
  let begin = (): void => undefined;
  const asked = new Promise<void>((resolve) => (begin = resolve));
  let isClosing = false;
  const onSignal = (signal: keyof typeof codes): void => {
    if (isClosing) process.exit(codes[signal]);
    isClosing = true;
    begin();
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  await asked;
  try {
    await close();
    out.write("Stopped.\n");
    return 0;
  } catch (error) {
    err.write(`The server did not stop cleanly: ${(error as Error).message}\n`);
    return 1;
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
}
