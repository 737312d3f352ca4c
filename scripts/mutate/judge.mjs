// The figure of an area, and what is wrong with the list of its survivors.

/** Of the mutants that change what the code does, the part that tests notice. */
const goal = 0.9;

/**
 * `listed` is survivors.json: groups of `{ why, isEquivalent, mutants }`. A name in `mutants` is that of a mutant, or of
 * a line, which stands for all of its mutants that survive. A mutant is equivalent when the code does the same with it.
 */
export function judge({ area, mutants, survivors, listed }) {
  const reasons = new Map(
    listed.flatMap(({ isEquivalent, mutants: names }) => names.map((name) => [name, isEquivalent])),
  );
  const reasonOf = ({ name, line }) => reasons.get(name) ?? reasons.get(line);
  const namesOf = (some) => new Set(some.flatMap(({ name, line }) => [name, line]));
  const [present, alive] = [namesOf(mutants), namesOf(survivors)];
  const files = new Set(mutants.map(({ file }) => file));
  const ours = [...reasons.keys()].filter((name) => files.has(name.split(" | ")[0]));
  const unlisted = survivors.filter((mutant) => reasonOf(mutant) === undefined);
  const gone = ours.filter((name) => !present.has(name));
  const stale = ours.filter((name) => present.has(name) && !alive.has(name));
  const equivalent = survivors.filter((mutant) => reasonOf(mutant) === true).length;
  const counted = mutants.length - equivalent;
  const killed = mutants.length - survivors.length;
  const share = counted === 0 ? 1 : killed / counted;
  const percent = (Math.floor(share * 1000) / 10).toFixed(1);
  return {
    isGood: unlisted.length + stale.length + gone.length === 0 && share >= goal,
    lines: [
      ...unlisted.map(({ name }) => `NOT LISTED: ${name}`),
      ...stale.map((name) => `LISTED, BUT KILLED: ${name}`),
      ...gone.map((name) => `LISTED, BUT GONE: ${name}`),
      `${area}: ${killed} of ${counted} mutants killed, ${percent} %; ${equivalent} more are equivalent`,
    ],
  };
}
