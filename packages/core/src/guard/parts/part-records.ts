import { IdRecord, kinds } from "./known.ts";
import type { Owner, OwnerOf, PartKind, UnclosedPart } from "./known.ts";

/** Every id that a run has named, and the chain of the parts that are open. */
export class PartRecords {
  // Many a run names one thing only, which needs no map.
  #first: IdRecord | undefined;
  #others: Map<string, IdRecord> | undefined;
  #oldest: UnclosedPart | undefined;
  #newest: UnclosedPart | undefined;

  find(id: string): IdRecord | undefined {
    return this.#first?.id === id ? this.#first : this.#others?.get(id);
  }

  /** The record of an id, made on first use. */
  know(id: string): IdRecord {
    const found = this.find(id);
    if (found) return found;
    const known = new IdRecord(id);
    if (this.#first) (this.#others ??= new Map()).set(id, known);
    else this.#first = known;
    return known;
  }

  /** `null` while nothing of this kind has the id. */
  ownerOf(field: OwnerOf, id: string): Owner | null {
    const known = this.find(id);
    return known ? known[field] : null;
  }

  open(known: IdRecord, kind: PartKind, ours: boolean): UnclosedPart {
    const older = this.#newest;
    const part: UnclosedPart = { kind, known, ours, older, newer: undefined };
    if (older) older.newer = part;
    else this.#oldest = part;
    this.#newest = part;
    known[kind] = part;
    return part;
  }

  shut(part: UnclosedPart): void {
    const { kind, known, older, newer } = part;
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
    known[kind] = null;
  }

  /** The id of the newest open part of this kind and owner. */
  latest(kind: PartKind, owner: Owner): string | undefined {
    for (let part = this.#newest; part; part = part.older) {
      if (part.kind === kind && part.known[kinds[kind].owner] === owner) return part.known.id;
    }
    return undefined;
  }

  get oldest(): UnclosedPart | undefined {
    return this.#oldest;
  }
}
