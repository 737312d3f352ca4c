/** A source of chance that repeats itself with its seed. */
export interface Random {
  /** From 0 up to 1. */
  next(): number;
  /** A whole number from 0 up to, and without, `max`. */
  below(max: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
}

/** The generator is mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (max: number): number => Math.floor(next() * max);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (list) => list[below(list.length)]!,
  };
}

/** The seed of one case, so that a case can be made again without those before it. */
export function seedOf(seed: number, index: number): number {
  return (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) + Math.imul(index + 1, 0xc2b2ae35)) >>> 0;
}
