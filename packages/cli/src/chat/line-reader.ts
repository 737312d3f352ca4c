import { createInterface } from "node:readline";

/** Lines from a terminal or a pipe, one at a time. */
export interface LineReader {
  /** Asks for the next line; undefined when the input has ended or `signal` is aborted. */
  ask(prompt: string, signal?: AbortSignal): Promise<string | undefined>;
  onInterrupt(listener: () => void): void;
  close(): void;
}

export function createLineReader(
  input: NodeJS.ReadableStream,
  out: NodeJS.WritableStream,
): LineReader {
  const lines: string[] = [];
  const waiting: ((line: string | undefined) => void)[] = [];
  let isOver = false;
  const isTerminal = (input as { isTTY?: boolean }).isTTY === true;
  // Lines that arrive before they are asked for are queued: a pipe delivers all of them at once.
  const reader = createInterface({
    input,
    ...(isTerminal ? { output: out, terminal: true } : {}),
  });
  reader.on("line", (line) => {
    const next = waiting.shift();
    if (next) next(line);
    else lines.push(line);
  });
  reader.on("close", () => {
    isOver = true;
    for (const next of waiting.splice(0)) next(undefined);
  });
  return {
    ask(prompt, signal) {
      // At a terminal readline redraws the line as it is edited, including the prompt.
      reader.setPrompt(prompt);
      if (isTerminal && !isOver) reader.prompt();
      else out.write(prompt);
      const line = lines.shift();
      if (line !== undefined) return Promise.resolve(line);
      if (isOver || signal?.aborted) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        const settle = (given: string | undefined): void => {
          signal?.removeEventListener("abort", leave);
          resolve(given);
        };
        const leave = (): void => {
          waiting.splice(waiting.indexOf(settle), 1);
          resolve(undefined);
        };
        signal?.addEventListener("abort", leave, { once: true });
        waiting.push(settle);
      });
    },
    onInterrupt: (listener) => void reader.on("SIGINT", listener),
    close: () => reader.close(),
  };
}
