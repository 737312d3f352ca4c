const mark = "[redacted]";
const maxDepth = 64;

const secretKeys =
  /^(?:proxy-)?authorization$|^(?:set-)?cookie$|^x-api-key$|^api[-_]?key$|^(?:access|refresh|id|auth)[-_]?token$|^(?:client[-_]?)?secret$|^password$/i;

// Every gap and every part that comes before a match is certain has a bound: text that arrives in pieces is held
// back that long.
/** What credentials look like by themselves, anywhere in a text. */
export const secretShapes: RegExp = anyOf([
  /\bauthorization["']?\s{0,128}[:=]\s{0,128}["']?(?:\w{1,32}\s{1,128})?[^\s"',]+/,
  /\bBearer\s{1,128}[\w.~+/=-]{6,}/,
  /\b(?:sk|pk|rk)[-_][\w-]{6,}/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\bgh[opsur]_[A-Za-z0-9]{16,}/,
  /\bgithub_pat_\w{20,}/,
  /\bglpat-[\w-]{16,}/,
  /\bxox[abeoprs]-[\w-]{10,}/,
  /\bAIza[\w-]{30,}/,
  // Only from the start of a word: from every "eyJ" in one it would take quadratic time.
  /(?<![\w-])(?:\w{1,24}-){0,2}eyJ[\w-]{6,2048}\.[\w-]{6,8192}\.[\w-]*/,
  /-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,32}PRIVATE KEY-----|$)/,
]);

/** `scheme://user:password@host`: only the credentials go. */
export const urlCredentials: RegExp = /(?<=:\/\/)[^\s/:@]{1,256}:[^\s/@]{1,256}(?=@)/g;

/**
 * The end of a text in which one of these may have begun, where that can be longer than the default window.
 * The next piece decides.
 */
export const secretOpenings: RegExp = anyOf([
  /\bauthorization["']?\s{0,128}(?:[:=]\s{0,128}["']?(?:\w{1,32}\s{0,128})?)?$/,
  /\bBearer\s{0,128}[\w.~+/=-]{0,5}$/,
  /(?<![\w-])(?:\w{1,24}-){0,2}eyJ[\w-]{0,2048}(?:\.[\w-]{0,8192})?$/,
  /(?<=:\/\/)[^\s/:@]{0,256}(?::[^\s/@]{0,256})?$/,
]);

function anyOf(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join("|"), "gi");
}

/** A copy without credentials: by the name of a field, and by the shape of a string. */
export function redactSecrets(value: unknown): unknown {
  return clean(value, 0);
}

function clean(value: unknown, depth: number): unknown {
  if (typeof value === "string") {
    return value.replace(secretShapes, mark).replace(urlCredentials, mark);
  }
  if (typeof value !== "object" || value === null) return value;
  if (depth > maxDepth) return "[too deep]";
  if (Array.isArray(value)) return value.map((item) => clean(item, depth + 1));
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    // Assigning to `__proto__` would change the copy instead of filling it.
    Object.defineProperty(copy, clean(key, depth) as string, {
      value: secretKeys.test(key) ? mark : clean(item, depth + 1),
      enumerable: true,
    });
  }
  return copy;
}
