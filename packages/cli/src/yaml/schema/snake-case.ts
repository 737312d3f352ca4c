/** `runTimeoutMs` as files spell it: `run_timeout_ms`. */
export function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `run_timeout_ms` as code spells it: `runTimeoutMs`. */
function toCamelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** An object whose keys are spelled as in code. */
export function withCamelKeys(value: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [toCamelCase(key), one]));
}
