import { describeValue } from "@holodeck/agui-core/internal";

/** Reads variables, and remembers what is wrong with them until it is asked. */
export interface EnvReader {
  text(
    name: string,
    fallback: string,
    check?: { rule: string; isFit: (value: string) => boolean },
  ): string;
  /** Nothing when it is not set. */
  integer(name: string, range: { least: number; most?: number }): number | undefined;
  /** False when it is not set. */
  flag(name: string): boolean;
  oneOf<T>(name: string, values: Readonly<Record<string, T>>): T | undefined;
  /** What `make` makes of it; what it throws is the fault. */
  made<T>(name: string, make: (value: string) => T): T | undefined;
  /** Never shown in a fault. */
  secret(name: string, isRequired: boolean): string;
  /** Throws everything that was wrong, in one error. */
  assertNoFaults(): void;
}

/** One variable that is wrong. */
interface EnvFault {
  readonly variable: string;
  readonly message: string;
}

const flags: Readonly<Record<string, boolean>> = {
  true: true,
  "1": true,
  yes: true,
  on: true,
  false: false,
  "0": false,
  no: false,
  off: false,
};

/** A reader that continues after a fault, so that all faults are reported together. */
export function createEnvReader(env: Readonly<Record<string, unknown>>): EnvReader {
  const faults: EnvFault[] = [];

  function get(name: string): string | undefined {
    const value = env[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "string") {
      wrong(name, "a string", value);
      return undefined;
    }
    const text = value.trim();
    return text === "" ? undefined : text;
  }

  function wrong(variable: string, rule: string, value: unknown): void {
    faults.push({
      variable,
      message: `${variable} must be ${rule}, not ${describeValue(value)}.`,
    });
  }

  function oneOf<T>(name: string, values: Readonly<Record<string, T>>): T | undefined {
    const text = get(name);
    if (text === undefined) return undefined;
    const key = text.toLowerCase();
    if (Object.hasOwn(values, key)) return values[key];
    const known = Object.keys(values);
    wrong(name, `one of ${known.join(", ")}`, text);
    return undefined;
  }

  return {
    text(name, fallback, check) {
      const text = get(name);
      if (text === undefined) return fallback;
      if (check && !check.isFit(text)) wrong(name, check.rule, text);
      return text;
    },
    integer(name, { least, most }) {
      const text = get(name);
      if (text === undefined) return undefined;
      const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
      if (value >= least && value <= (most ?? Number.MAX_SAFE_INTEGER)) return value;
      const range = most === undefined ? `of at least ${least}` : `from ${least} to ${most}`;
      wrong(name, `an integer ${range}`, text);
      return undefined;
    },
    flag: (name) => oneOf(name, flags) ?? false,
    oneOf,
    made(name, make) {
      const text = get(name);
      if (text === undefined) return undefined;
      try {
        return make(text);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        faults.push({ variable: name, message: `${name}: ${reason}` });
        return undefined;
      }
    },
    secret(name, isRequired) {
      const value = env[name];
      const text = typeof value === "string" ? value.trim() : "";
      if (isRequired && text === "") {
        faults.push({ variable: name, message: `${name} is empty; the agent needs it.` });
      }
      return text;
    },
    assertNoFaults() {
      if (faults.length === 0) return;
      const list = faults.map(({ message }) => `- ${message}`).join("\n");
      throw new TypeError(`The environment is not valid:\n${list}`, { cause: faults });
    },
  };
}

/** Whether a server could listen on it: a name, or an address of either kind. */
export function isHost(text: string): boolean {
  if (text.includes(":")) return URL.canParse(`http://[${text}]/`);
  if (/^[\d.]+$/.test(text)) {
    const parts = text.split(".");
    return (
      parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)
    );
  }
  return text.length <= 253 && text.split(".").every((label) => hostLabel.test(label));
}

const hostLabel = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i;
