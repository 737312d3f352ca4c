/** Whether NODE_ENV is `production`. */
export function isProduction(): boolean {
  return readMode() === "production";
}

/** Whether there is an environment, and it is not the one of production. */
export function isDevelopment(): boolean {
  const mode = readMode();
  return mode !== undefined && mode !== "production";
}

// NODE_ENV. Returns undefined where there is no process, or where it may not read its environment.
function readMode(): string | undefined {
  const { process } = globalThis as { process?: { env?: { NODE_ENV?: string } } };
  try {
    return process?.env && (process.env.NODE_ENV ?? "");
  } catch {
    return undefined;
  }
}
