import { fork } from "node:child_process";

/** A script in a process of its own that answers messages one by one. */
export function startChild(script, args = [], { env = {}, execArgv = [] } = {}) {
  const child = fork(new URL(`../${script}`, import.meta.url), args, {
    env: { ...process.env, ...env },
    execArgv,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const next = () =>
    new Promise((resolve, reject) => {
      const onMessage = (message) => {
        child.off("exit", onExit);
        if (message?.error) reject(new Error(message.error));
        else resolve(message);
      };
      const onExit = (code) => {
        child.off("message", onMessage);
        reject(new Error(`${script} ${args.join(" ")} ended with code ${code}.`));
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
    end: () => child.disconnect(),
  };
}
