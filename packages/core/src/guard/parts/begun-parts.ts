import type { PartKind } from "./known.ts";

/**
 * What an agent has begun, as its own guard passed it on to the middleware. The guard behind the middleware
 * knows from it what was taken out on the way.
 */
export class BegunParts {
  readonly #ids = new Set<string>();

  add(kind: PartKind, id: string): void {
    this.#ids.add(`${kind}:${id}`);
  }

  has(kind: PartKind, id: string): boolean {
    return this.#ids.has(`${kind}:${id}`);
  }
}
