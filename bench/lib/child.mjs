import { fork, spawnSync } from "node:child_process";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";

const canPin =
  process.platform === "linux" &&
  cpus().length > 1 &&
  spawnSync("taskset", ["-c", "0", "true"]).status === 0;

/** Whether servers and load have a core each. */
export const isPinned = canPin;

/**
 * A script in a separate process that answers messages one by one. `core` is the processor it stays
 * on, where the system supports that.
 */
export function startChild(script, args = [], { env = {}, execArgv = [], core } = {}) {
  const flags = [...process.execArgv, ...execArgv];
  const isBound = canPin && core !== undefined;
  const child = fork(fileURLToPath(new URL(`../${script}`, import.meta.url)), args, {
    env: {
      ...process.env,
      NODE_ENV: "production",
      DO_NOT_TRACK: "1",
      COPILOTKIT_TELEMETRY_DISABLED: "true",
      ...env,
    },
    ...(isBound
      ? { execPath: "taskset", execArgv: ["-c", String(core), process.execPath, ...flags] }
      : { execArgv: flags }),
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  // Warnings of subjects are printed only when one of them exits.
  let errors = "";
  child.stderr.on("data", (chunk) => (errors = (errors + chunk).slice(-4_000)));
  const next = () =>
    new Promise((resolve, reject) => {
      const onMessage = (message) => {
        child.off("exit", onExit);
        if (message?.error) reject(new Error(message.error));
        else resolve(message);
      };
      const onExit = (code) => {
        child.off("message", onMessage);
        reject(new Error(`${script} ${args.join(" ")} ended with code ${code}.\n${errors}`));
      };
      child.once("message", onMessage);
      child.once("exit", onExit);
    });
  return {
    pid: child.pid,
    ready: next,
    ask(message) {
      const answer = next();
      child.send(message);
      return answer;
    },
    /** Ends the process and waits until it is gone. */
    end() {
      if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
      const gone = new Promise((resolve) => child.once("exit", resolve));
      if (child.connected) child.disconnect();
      return gone;
    },
  };
}
