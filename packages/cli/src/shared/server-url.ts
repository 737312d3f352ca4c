/** The forms of a place for sessions, for messages. */
export const storeForms = "memory, sqlite:PATH, redis://HOST:PORT or postgres://HOST/DATABASE";

/** The server that a URL is for. Returns undefined when it is no URL of one. */
export function serverOf(where: string): "Redis" | "PostgreSQL" | undefined {
  if (/^rediss?:\/\//.test(where)) return "Redis";
  return /^postgres(?:ql)?:\/\//.test(where) ? "PostgreSQL" : undefined;
}

/** The URL of a server for people: without user, password and options. */
export function withoutSecrets(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}
