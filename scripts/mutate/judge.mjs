// The figure of an area, and what is wrong with the list of its survivors.

/** Of the mutants that change what the code does, the part that tests notice. */
const goal = 0.9;

/**
 * `listed` is survivors.json: groups of `{ why, isEquivalent, mutants }`, with names of mutants. A mutant is equivalent
 * when the code does the same with it.
 */
export function judge({ area, mutants, survivors, listed }) {
  const reasons = new Map();
  for (const { isEquivalent, mutants: names } of listed) {
    for (const name of names) reasons.set(name, isEquivalent);
  }
  const alive = new Set(survivors.map(({ name }) => name));
  const unlisted = survivors.filter(({ name }) => !reasons.has(name));
  const stale = mutants.filter(({ name }) => reasons.has(name) && !alive.has(name));
  const files = new Set(mutants.map(({ file }) => file));
  const present = new Set(mutants.map(({ name }) => name));
  const gone = [...reasons.keys()].filter(
    (name) => files.has(name.split(" | ")[0]) && !present.has(name),
  );
  const equivalent = survivors.filter(({ name }) => reasons.get(name) === true).length;
  const counted = mutants.length - equivalent;
  const killed = mutants.length - survivors.length;
  const share = counted === 0 ? 1 : killed / counted;
  const percent = (Math.floor(share * 1000) / 10).toFixed(1);
  return {
    isGood: unlisted.length + stale.length + gone.length === 0 && share >= goal,
    lines: [
      ...unlisted.map(({ name }) => `NOT LISTED: ${name}`),
      ...stale.map(({ name }) => `LISTED, BUT KILLED: ${name}`),
      ...gone.map((name) => `LISTED, BUT GONE: ${name}`),
      `${area}: ${killed} of ${counted} mutants killed, ${percent} %; ${equivalent} more are equivalent`,
    ],
  };
}
