// Child processes of the scripts. No dependencies: it runs before anything is installed.
import { spawn } from "node:child_process";
import { userInfo } from "node:os";
import { root } from "./workspace.mjs";

/** The environment for child processes, with a HOME even where there is none. */
export function childEnv(extra = {}) {
  const env = { ...process.env, ...extra };
  if (!env.HOME && process.platform !== "win32") env.HOME = userInfo().homedir;
  return env;
}

/** Runs a command to its end and keeps what it printed. */
export function run([command, ...args], options = {}) {
  const { cwd = root, env = {}, timeoutMs = 600_000 } = options;
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: childEnv({ NO_COLOR: "1", FORCE_COLOR: undefined, ...env }),
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
    });
    let output = "";
    let stdout = "";
    const timer = setTimeout(() => {
      output += `\nStopped after ${timeoutMs / 1000} s.`;
      child.kill("SIGKILL");
    }, timeoutMs);
    child.stdout.on("data", (chunk) => {
      output += chunk;
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => (output += chunk));
    child.on("error", (error) => {
      clearTimeout(timer);
      resolve({ code: 1, output: `${output}${error.message}`, stdout });
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? 1, output, stdout });
    });
  });
}

/** Runs a command on this terminal, hands signals on to it, and resolves to its exit code. */
export function runHere([command, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: childEnv(process.stdout.isTTY ? {} : { NO_COLOR: "1", FORCE_COLOR: undefined }),
      stdio: "inherit",
    });
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    const forward = (signal) => child.kill(signal);
    for (const signal of signals) process.on(signal, forward);
    // npm hands SIGTERM to its shell, and a shell dies without handing it on: we notice as orphans.
    const parent = process.ppid;
    const watch = setInterval(() => {
      if (process.ppid !== parent) child.kill("SIGTERM");
    }, 500);
    child.on("error", (error) => {
      clearInterval(watch);
      console.error(error.message);
      resolve(1);
    });
    child.on("exit", (code, signal) => {
      clearInterval(watch);
      for (const name of signals) process.off(name, forward);
      resolve(code ?? (signal ? 1 : 0));
    });
  });
}

/** `1.2 s` since a moment of `Date.now()`. */
export function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}
