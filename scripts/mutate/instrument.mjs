// A source with all of its mutants in it, each behind a switch: so a process loads it once, and tries one mutant after
// the other.

/** `mutants` as from `findMutants`, with an `id` each. The switches ask `globalThis.isMutant`. */
export function instrument(text, mutants) {
  return `const isMutant = (id) => globalThis.isMutant?.(id) ?? false;${render(0, text.length, mutants)}`;

  function render(from, to, within) {
    let out = "";
    let at = from;
    for (let next = 0; next < within.length;) {
      const { start, end } = within[next];
      const here = within.slice(next).filter((one) => one.start === start && one.end === end);
      const inner = within.slice(next + here.length).filter((one) => one.start < end);
      out += text.slice(at, start) + wrap(here, render(start, end, inner));
      next += here.length + inner.length;
      at = end;
    }
    return out + text.slice(at, to);
  }
}

function wrap(mutants, original) {
  if (mutants[0].isStatement) {
    const test = mutants.map(({ id }) => `isMutant("${id}")`).join(" || ");
    return `{ if (${test}) {} else { ${original} } }`;
  }
  const choices = mutants.map(({ id, becomes }) => `isMutant("${id}") ? (${becomes}) : `);
  return `(${choices.join("")}(${original}))`;
}
