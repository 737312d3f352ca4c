import type { Session } from "@holodeck/agui-core";
import { memoryOf } from "../kit/sessions/session-size.ts";

/** The threads of one principal. */
export interface PrincipalThreads {
  readonly principal: string;
  count: number;
  bytes: number;
  /** The least and the most recently used, without and with questions that are not answered. */
  readonly ends: readonly [Ends, Ends];
}

interface Ends {
  oldest: Place | undefined;
  newest: Place | undefined;
}

/** A thread and where it is in the order of use. */
export interface Place {
  readonly id: string;
  session: Session;
  readonly owner: PrincipalThreads;
  bytes: number;
  /** What is not in `session.size`. */
  rest: number;
  /** When it was used, by a count of uses, and by the clock. */
  use: number;
  usedAt: number;
  line: 0 | 1;
  older: Place | undefined;
  newer: Place | undefined;
}

// The record, its places in maps and lists, the times of messages.
const perSession = 1_024;

/**
 * Sessions by their names, and for each principal in the order of their last use. A `Map` would need a delete and
 * an insert per use, and a table that is written to twice per run is rebuilt constantly.
 */
export class RecentSessions {
  /** Roughly what all sessions take in memory. */
  bytes = 0;
  readonly #places = new Map<string, Place>();
  readonly #owners = new Map<string, PrincipalThreads>();
  #uses = 0;
  // A run asks for its session several times in a row, and a large table is far from the processor.
  #last: Place | undefined = undefined;
  #lastOwner: PrincipalThreads | undefined = undefined;

  get size(): number {
    return this.#places.size;
  }

  get owners(): IterableIterator<PrincipalThreads> {
    return this.#owners.values();
  }

  get ownerCount(): number {
    return this.#owners.size;
  }

  owner(principal: string): PrincipalThreads | undefined {
    return this.#owners.get(principal);
  }

  find(id: string): Place | undefined {
    const last = this.#last;
    if (last && last.id === id) return last;
    const place = this.#places.get(id);
    if (place) this.#last = place;
    return place;
  }

  /** Sets a session, as the one that was used last. */
  put(id: string, session: Session, now: number): void {
    let place = this.find(id);
    const line = session.pending.length > 0 ? 1 : 0;
    if (place === undefined) {
      const owner = this.#ownerOf(session.principal);
      const rest = restOf(session);
      place = {
        id,
        session,
        owner,
        bytes: 0,
        rest,
        use: 0,
        usedAt: now,
        line,
        older: undefined,
        newer: undefined,
      };
      this.#places.set(id, place);
      this.#last = place;
      owner.count++;
    } else {
      const { metadata, pending } = place.session;
      if (metadata !== session.metadata || pending !== session.pending) {
        place.rest = restOf(session);
      }
      place.session = session;
      const isNewest = place === place.owner.ends[place.line].newest;
      if (!isNewest || place.line !== line) {
        unlink(place);
        place.line = line;
      }
    }
    place.use = ++this.#uses;
    place.usedAt = now;
    link(place);
    this.#charge(place, bytesWith(session, place.rest));
  }

  delete(id: string): boolean {
    const place = this.find(id);
    if (!place) return false;
    const { owner } = place;
    this.#last = undefined;
    this.#places.delete(id);
    unlink(place);
    this.#charge(place, 0);
    if (--owner.count === 0) {
      this.#owners.delete(owner.principal);
      this.#lastOwner = undefined;
    }
    return true;
  }

  clear(): void {
    this.#places.clear();
    this.#owners.clear();
    this.#last = undefined;
    this.#lastOwner = undefined;
    this.bytes = 0;
  }

  /** The sessions of a principal. */
  of(principal: string): Place[] {
    const found: Place[] = [];
    for (const { oldest } of this.#owners.get(principal)?.ends ?? []) {
      for (let place = oldest; place; place = place.newer) found.push(place);
    }
    return found;
  }

  /** Those that were not used after a moment. The consumer may delete the current one while iterating. */
  *unusedSince(moment: number): Generator<Place, void, undefined> {
    for (const { ends } of this.#owners.values()) {
      for (const { oldest } of ends) {
        let place = oldest;
        while (place && place.usedAt <= moment) {
          const { newer } = place;
          yield place;
          place = newer;
        }
      }
    }
  }

  /** What a session would take in place of the one that is there. */
  growthOf(place: Place, session: Session): number {
    const { metadata, pending } = place.session;
    const isSame = metadata === session.metadata && pending === session.pending;
    return bytesWith(session, isSame ? place.rest : restOf(session)) - place.bytes;
  }

  #charge(place: Place, bytes: number): void {
    const growth = bytes - place.bytes;
    place.bytes = bytes;
    place.owner.bytes += growth;
    this.bytes += growth;
  }

  #ownerOf(principal: string): PrincipalThreads {
    if (this.#lastOwner?.principal === principal) return this.#lastOwner;
    let owner = this.#owners.get(principal);
    if (!owner) {
      const ends = [
        { oldest: undefined, newest: undefined },
        { oldest: undefined, newest: undefined },
      ] as const;
      owner = { principal, count: 0, bytes: 0, ends };
      this.#owners.set(principal, owner);
    }
    this.#lastOwner = owner;
    return owner;
  }
}

/** What a session takes that is not there yet. */
export function bytesOfNew(session: Session): number {
  return bytesWith(session, restOf(session));
}

function bytesWith({ size }: Session, rest: number): number {
  return perSession + rest + (size ? size.messageBytes + size.stateBytes : 0);
}

function restOf({ metadata, pending }: Session): number {
  const bytes = pending.length === 0 ? 0 : memoryOf(pending);
  return isEmpty(metadata) ? bytes : bytes + memoryOf(metadata);
}

function link(place: Place): void {
  const ends = place.owner.ends[place.line];
  if (ends.newest === place) return;
  place.older = ends.newest;
  place.newer = undefined;
  if (ends.newest) ends.newest.newer = place;
  else ends.oldest = place;
  ends.newest = place;
}

function unlink(place: Place): void {
  const ends = place.owner.ends[place.line];
  const { older, newer } = place;
  if (older) older.newer = newer;
  else ends.oldest = newer;
  if (newer) newer.older = older;
  else ends.newest = older;
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false;
  return true;
}
