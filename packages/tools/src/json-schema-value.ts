import { describeValue } from "@holodeck/agui-core/internal";
import type { Fault } from "@holodeck/agui-core";

// A schema may refer to itself; no arguments are meant to be of this depth.
const maxDepth = 200;
// Of the lists without a repeated item with those that have one.
const maxComparisons = 20_000_000;

/**
 * Finds what prevents a value from being checked at all: it is not JSON, or too deep. Fills `repeated` with
 * the arrays of the value that have duplicate items, in linear time.
 */
export function scanValue(value: unknown, repeated: unknown[] | undefined): Fault | undefined {
  if (repeated) repeated.length = 0;
  const scanner = new Scanner(repeated);
  scanner.scan(value, "", 0);
  return scanner.fault;
}

class Scanner {
  fault: Fault | undefined;
  readonly #repeated: unknown[] | undefined;
  // Equal values have the same number.
  readonly #numbers = new Map<string, number>();
  #unique = 0;

  constructor(repeated: unknown[] | undefined) {
    this.#repeated = repeated;
  }

  /** The number of a value, or 0 where equality is of no interest. */
  scan(value: unknown, path: string, depth: number): number {
    if (this.fault) return 0;
    if (depth > maxDepth) return this.#fail(path, "is nested too deeply");
    switch (typeof value) {
      case "string":
        return this.#numberOf(() => `s${value}`);
      case "boolean":
        return this.#numberOf(() => String(value));
      case "number":
        if (!Number.isFinite(value)) break;
        return this.#numberOf(() => String(value));
      case "object":
        if (value === null) return this.#numberOf(() => "null");
        if (Array.isArray(value)) return this.#scanList(value, path, depth);
        return this.#scanRecord(value as Record<string, unknown>, path, depth);
      default:
    }
    return this.#fail(path, `must be a JSON value, not ${describeValue(value)}`);
  }

  #scanList(list: readonly unknown[], path: string, depth: number): number {
    const numbers: number[] = [];
    for (let index = 0; index < list.length; index++) {
      const number = this.scan(list[index], inside(path, String(index)), depth + 1);
      if (this.#repeated) numbers.push(number);
    }
    if (!this.#repeated || this.fault) return 0;
    const known = this.#numbers.size;
    const own = this.#numberOf(() => `[${numbers.join()}`);
    if (new Set(numbers).size === numbers.length) this.#unique++;
    else if (this.#numbers.size > known) this.#repeated.push(list);
    if (this.#repeated.length * this.#unique > maxComparisons) {
      return this.#fail(path, "has too many lists with the same item twice to be checked");
    }
    return own;
  }

  #scanRecord(record: Record<string, unknown>, path: string, depth: number): number {
    const members: string[] = [];
    for (const name of Object.keys(record)) {
      if (hasLoneSurrogate(name)) return this.#fail(path, "has a name that is not valid Unicode");
      const number = this.scan(record[name], inside(path, name), depth + 1);
      if (this.#repeated) members.push(`${JSON.stringify(name)}:${number}`);
    }
    return this.#numberOf(() => `{${members.sort().join()}`);
  }

  #numberOf(key: () => string): number {
    if (!this.#repeated) return 0;
    const text = key();
    let number = this.#numbers.get(text);
    if (number === undefined) this.#numbers.set(text, (number = this.#numbers.size + 1));
    return number;
  }

  #fail(path: string, message: string): number {
    this.fault ??= { path, message };
    return 0;
  }
}

function inside(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

// With the flag the class matches surrogates without their other half.
function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}
