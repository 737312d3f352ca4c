import type { Io } from "../io.ts";

/** How a process that was ended by a signal says so. */
const codes = { SIGINT: 130, SIGTERM: 143 } as const;

// What an agent file has left running must not keep the process.
const lastMs = 500;

/**
 * Waits for SIGINT or SIGTERM, then for `close`; resolves with the exit code. A second signal ends the
 * process at once.
 */
export async function untilSignal(
  close: () => Promise<void>,
  { out, err }: Pick<Io, "out" | "err">,
): Promise<number> {
  await new Promise<void>((resolve) => {
    let isClosing = false;
    const onSignal = (signal: keyof typeof codes): void => {
      if (isClosing) process.exit(codes[signal]);
      isClosing = true;
      resolve();
    };
    process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  });
  let code = 0;
  try {
    await close();
    out.write("Stopped.\n");
  } catch (error) {
    err.write(`It did not stop well: ${(error as Error).message}\n`);
    code = 1;
  }
  setTimeout(() => process.exit(code), lastMs).unref();
  return code;
}
