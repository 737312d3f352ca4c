import { spawn } from "node:child_process";
import type { Io } from "../shared/io.ts";

const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  // The first word in quotes would be the title of a window.
  win32: ["cmd", "/c", "start", ""],
};

/** Opens a URL in the browser; prints a message when that fails. */
export function openBrowser(url: string, { env, err }: Pick<Io, "env" | "err">): void {
  const [command, ...args] = openers[process.platform] ?? ["xdg-open"];
  const apologise = (reason: string): void => {
    err.write(`The browser could not be opened (${command} ${reason}); open ${url} yourself.\n`);
  };
  const child = spawn(command, [...args, url], { env, stdio: "ignore", detached: true });
  child.once("error", (error: NodeJS.ErrnoException) =>
    apologise(error.code === "ENOENT" ? "is not installed" : error.message),
  );
  child.once("exit", (code) => {
    if (code) apologise(`ended with code ${code}`);
  });
  child.unref();
}
