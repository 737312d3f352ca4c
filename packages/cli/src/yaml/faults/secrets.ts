import type { Path, FileReport } from "./report.ts";

// Keys that usually hold secrets.
const secretKey =
  /^(?:x-)?(?:api[-_]?key|apikey|(?:access|refresh|auth|bearer)?[-_]?token|(?:client[-_]?)?secret|secret[-_]?key|access[-_]?key|password|passwd|(?:proxy-)?authorization|cookie)$/i;
// Ends of the names of variables that hold such a thing.
const secretName = /(?:^|[-_])(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i;
const secretShape =
  /(?:^|\s)(?:(?:sk|pk|rk)[-_][\w-]{8,}|gh[opsu]_\w{16,}|github_pat_\w{16,}|xox[abprs]-[\w-]{8,}|AKIA[0-9A-Z]{16}|AIza[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)/;
const withPassword = /^[a-z][a-z\d+.-]*:\/\/[^/\s:@]*:[^/\s@$]+@/i;
const reference = /\$\{([A-Za-z_]\w*)\}/;

/** Whether a text has the form of a key or token. */
export function looksSecret(value: string): boolean {
  return secretShape.test(value) || withPassword.test(value);
}

/**
 * Reports every secret written in the file itself, with its location. Its value is never printed.
 */
export function findSecrets(data: unknown, report: FileReport): ReadonlySet<string> {
  const found = new Set<string>();
  visit(data, [], (path, value) => {
    found.add(JSON.stringify(path));
    report.add(path, `Secrets do not belong in the file. ${advice(path, value)}`);
  });
  return found;
}

function visit(value: unknown, path: Path, onSecret: (path: Path, value: string) => void): void {
  if (typeof value === "object" && value !== null) {
    for (const [key, one] of Object.entries(value)) {
      visit(one, [...path, Array.isArray(value) ? Number(key) : key], onSecret);
    }
    return;
  }
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text === "string" && text !== "" && isSecret(path, text)) onSecret(path, text);
}

function isSecret(path: Path, value: string): boolean {
  if (looksSecret(value)) return true;
  const key = path.at(-1);
  // Parameters of a tool may be called what they like.
  if (typeof key !== "string" || path.includes("parameters")) return false;
  // Even a reference is wrong here: the schema has `api_key_env`.
  if (path[0] === "model" && secretKey.test(key)) return true;
  const holder = path.at(-2);
  const isVariable = (holder === "env" || holder === "headers") && secretName.test(key);
  return (secretKey.test(key) || isVariable) && !reference.test(value);
}

function advice(path: Path, value: string): string {
  const key = String(path.at(-1));
  if (path[0] === "model") {
    const variable = reference.exec(value)?.[1] ?? "OPENAI_API_KEY";
    return `Put it into the environment and write "api_key_env: ${variable}" here.`;
  }
  if (path.includes("headers") || path.includes("env")) {
    return `Put it into the environment and write "${key}: \${NAME}" here.`;
  }
  return 'Put it into the environment and write "${NAME}" here.';
}
