import { own } from "./record.ts";
import type { JsonPatch } from "@ag-ui/core";
import { copyMember, isPlain } from "./copy.ts";

type Container = unknown[] | Record<string, unknown>;

/**
 * The RFC 6902 operations that lead from one JSON value to another of its kind; their values are
 * copies. Nothing is returned when the other holds what JSON writes as something else than it is
 * (a date, a number that is none), or lies deeper than this may go.
 */
export function compareJson(from: object, to: object, maxDepth: number): JsonPatch | undefined {
  const comparison = new Comparison(maxDepth);
  return comparison.compare(from as Container, to as Container) ? comparison.operations : undefined;
}

class Comparison {
  readonly operations: JsonPatch = [];
  readonly #maxDepth: number;
  /** The names on the way to what is compared. */
  readonly #path: string[] = [];

  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  /** False: the other is not plain JSON. */
  compare(from: Container, to: Container): boolean {
    if (this.#path.length > this.#maxDepth || !isPlain(to)) return false;
    return Array.isArray(from)
      ? this.#compareItems(from, to as unknown[])
      : this.#compareMembers(from, to as Record<string, unknown>);
  }

  // From the last to the first, so that what is removed leaves the others where they are.
  #compareItems(from: readonly unknown[], to: readonly unknown[]): boolean {
    for (let i = from.length - 1; i >= 0; i--) {
      if (i >= to.length) this.#remove(String(i));
      else if (from[i] !== to[i] && !this.#compareAt(i, from[i], to[i])) return false;
    }
    for (let i = from.length; i < to.length; i++) {
      if (!this.#add(String(i), to[i])) return false;
    }
    return true;
  }

  #compareMembers(from: Record<string, unknown>, to: Record<string, unknown>): boolean {
    const names = Object.keys(from);
    const others = Object.keys(to);
    // All at once: reading a hundred members by their names costs three times as much.
    const befores = Object.values(from);
    const afters = Object.values(to);
    let isMissing = others.length !== names.length;
    for (let i = names.length - 1; i >= 0; i--) {
      const name = names[i]!;
      // Members mostly keep their order, and then nothing has to be looked up.
      const after = others[i] === name ? afters[i] : own(to, name);
      if (after === befores[i]) continue;
      if (after === undefined) {
        this.#remove(name);
        isMissing = true;
      } else if (!this.#compareAt(name, befores[i], after)) return false;
    }
    if (!isMissing) return true;
    for (const name of others) {
      if (Object.hasOwn(from, name)) continue;
      const value = to[name];
      if (value !== undefined && !this.#add(name, value)) return false;
    }
    return true;
  }

  #compareAt(name: string | number, before: unknown, after: unknown): boolean {
    if (!isSameKind(before, after)) return this.#replace(String(name), before, after);
    this.#path.push(String(name));
    const isJson = this.compare(before, after as Container);
    this.#path.pop();
    return isJson;
  }

  #replace(name: string, before: unknown, after: unknown): boolean {
    const value = toValue(after);
    if (value === undefined) return false;
    if (value !== before) this.operations.push({ op: "replace", path: this.#pointer(name), value });
    return true;
  }

  #add(name: string, added: unknown): boolean {
    const value = toValue(added);
    if (value === undefined || name === "__proto__") return false;
    this.operations.push({ op: "add", path: this.#pointer(name), value });
    return true;
  }

  #remove(name: string): void {
    this.operations.push({ op: "remove", path: this.#pointer(name) });
  }

  #pointer(name: string): string {
    let pointer = "";
    for (const part of this.#path) pointer += `/${escape(part)}`;
    return `${pointer}/${escape(name)}`;
  }
}

/** True for two objects that are no arrays, and for two arrays. */
export function isSameKind(left: unknown, right: unknown): left is Container {
  if (typeof left !== "object" || typeof right !== "object" || !left || !right) return false;
  return Array.isArray(left) === Array.isArray(right);
}

function toValue(value: unknown): unknown {
  if (typeof value === "object" && value !== null && !isPlain(value)) return undefined;
  return copyMember(value);
}

function escape(name: string): string {
  if (!name.includes("~") && !name.includes("/")) return name;
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
