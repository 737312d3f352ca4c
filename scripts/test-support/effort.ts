// How often tests that repeat themselves do so. `npm test` repeats as often as a common fault needs to show;
// CI sets TEST_EFFORT=full, to find rare ones.
const isFull = process.env.TEST_EFFORT === "full";

/** The first number with `TEST_EFFORT=full`, else the second. */
export function effort(full: number, usual: number): number {
  return isFull ? full : usual;
}
