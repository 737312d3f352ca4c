import { createExtractor } from "../extractor.ts";
import type { Extractor } from "../extractor.ts";
import { toOutcome } from "./messages.ts";
import type { ReaderCommand, ReaderReport, ReadOutcome } from "./messages.ts";

/**
 * Reads files for the process that has started this one, until that one ends or closes the connection. Signals of a
 * terminal or of a service manager reach both: the other one decides when this one ends.
 */
export function serveParent(): void {
  const aborters = new Map<number, AbortController>();
  let extractor: Extractor | undefined;
  let keepBytes = 0;
  const ownBytes = process.memoryUsage.rss();

  function report(message: ReaderReport): void {
    process.send!(message, undefined, undefined, ignore);
  }

  function isGrown(): boolean {
    if (aborters.size > 0) return false;
    return process.memoryUsage.rss() - ownBytes - extractor!.countHeldBytes() > keepBytes;
  }

  async function read({ id, name, job, owner, isAlone }: Reading): Promise<void> {
    const aborter = new AbortController();
    aborters.set(id, aborter);
    const begin = (): void => report({ type: "began", id });
    let outcome: ReadOutcome;
    try {
      const { signal } = aborter;
      outcome = { text: await extractor!.extract(name, job, { owner, signal, isAlone, begin }) };
    } catch (error) {
      outcome = toOutcome(error);
    }
    aborters.delete(id);
    report({ type: "done", id, outcome, isGrown: isGrown() });
  }

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, ignore);
  process.once("disconnect", () => process.exit(0));
  process.on("message", (command: ReaderCommand) => {
    switch (command.type) {
      case "open":
        extractor = createExtractor(command.options);
        keepBytes = command.options.memoryBytes / 4;
        return report({ type: "ready" });
      case "read":
        return void read(command);
      case "cancel":
        return aborters.get(command.id)?.abort();
    }
  });
}

type Reading = Extract<ReaderCommand, { type: "read" }>;

function ignore(): void {}
