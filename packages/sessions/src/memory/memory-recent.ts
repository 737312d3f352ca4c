import type { Session } from "@holodeck/agui-core";

interface Place {
  session: Session;
  older: Place | undefined;
  newer: Place | undefined;
}

/**
 * Sessions in the order of their last use. A `Map` would need a delete and an insert per use, and a
 * table that is written to twice per run is rebuilt constantly.
 */
export class RecentSessions {
  readonly #places = new Map<string, Place>();
  // A run asks for its session several times in a row, and a large table is far from the processor.
  #last: Place | undefined = undefined;
  #lastId = "";
  #oldest: Place | undefined = undefined;
  #newest: Place | undefined = undefined;

  get size(): number {
    return this.#places.size;
  }

  get(id: string): Session | undefined {
    return this.#find(id)?.session;
  }

  #find(id: string): Place | undefined {
    if (this.#last && this.#lastId === id) return this.#last;
    const place = this.#places.get(id);
    if (place) this.#remember(id, place);
    return place;
  }

  #remember(id: string, place: Place): void {
    this.#last = place;
    this.#lastId = id;
  }

  /** Sets a session, as the one that was used last. */
  put(id: string, session: Session): void {
    let place = this.#find(id);
    if (place === undefined) {
      place = { session, older: undefined, newer: undefined };
      this.#places.set(id, place);
      this.#remember(id, place);
    } else {
      place.session = session;
      if (place === this.#newest) return;
      this.#unlink(place);
    }
    place.older = this.#newest;
    place.newer = undefined;
    if (this.#newest) this.#newest.newer = place;
    else this.#oldest = place;
    this.#newest = place;
  }

  delete(id: string): boolean {
    const place = this.#find(id);
    if (!place) return false;
    this.#last = undefined;
    this.#places.delete(id);
    this.#unlink(place);
    return true;
  }

  clear(): void {
    this.#places.clear();
    this.#last = undefined;
    this.#oldest = undefined;
    this.#newest = undefined;
  }

  /**
   * The least recently used comes first. The consumer may delete the current session while
   * iterating.
   */
  *values(): Generator<Session, void, undefined> {
    let place = this.#oldest;
    while (place) {
      const { newer } = place;
      yield place.session;
      place = newer;
    }
  }

  #unlink({ older, newer }: Place): void {
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
  }
}
