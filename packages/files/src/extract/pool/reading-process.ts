import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ExtractorOptions } from "../extractor.ts";
import type { ReaderCommand, ReaderReport } from "./messages.ts";
import { isSource, workerUrl } from "./worker-url.ts";

/** A process that reads files. Its memory is the system's again when it ends, whatever they made it take. */
export interface ReadingProcess {
  send(command: ReaderCommand): void;
  /** Whether it keeps this process alive. */
  hold(isHeld: boolean): void;
  /** Ends it. Resolves when it has ended. */
  end(): Promise<unknown>;
}

export interface ReadingListener {
  received(report: ReaderReport): void;
  /** It has ended, by itself or by `end()`, or could not be started. */
  ended(): void;
}

/** Starts such a process. */
export function startReadingProcess(
  options: ExtractorOptions,
  listener: ReadingListener,
): ReadingProcess {
  const url = workerUrl();
  const child: ChildProcess = fork(fileURLToPath(url), {
    // Flags of this process, such as those of a debugger, are not meant for it.
    execArgv: isSource(url) ? ["--conditions=@holodeck/source", "--import=tsx"] : [],
    serialization: "advanced",
    // The readers' output about a file does not belong on the host's console.
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const gone = new Promise<void>((resolve) => {
    child.once("exit", resolve).once("error", () => resolve());
  });
  void gone.then(() => listener.ended());
  child.on("message", (report: ReaderReport) => listener.received(report));
  const send = (command: ReaderCommand): void => {
    // What cannot be sent is followed by the end of the process.
    if (child.connected) child.send(command, ignore);
  };
  send({ type: "open", options });
  return {
    send,
    hold(isHeld) {
      if (isHeld) child.ref();
      else child.unref();
      // Not in the types of Node, and not in Bun.
      const { channel } = child as { channel?: { ref?(): void; unref?(): void } | null };
      if (isHeld) channel?.ref?.();
      else channel?.unref?.();
    },
    end() {
      child.kill("SIGKILL");
      return gone;
    },
  };
}

function ignore(): void {}
