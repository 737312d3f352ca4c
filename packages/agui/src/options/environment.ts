type Env = Readonly<Record<string, string | undefined>>;

// Not every runtime has a process.
function readEnv(): Env | undefined {
  return (globalThis as { process?: { env?: Env } }).process?.env;
}

/** Whether NODE_ENV is `production`. */
export function isProduction(): boolean {
  return readEnv()?.NODE_ENV === "production";
}

/** Whether there is an environment, and it is not the one of production. */
export function isDevelopment(): boolean {
  const env = readEnv();
  return env !== undefined && env.NODE_ENV !== "production";
}
