// The part of semver ranges that `engines` fields use. Enough to ask "does this accept Node 20.19?".

/** Whether a version such as `20.19.0` is inside a range such as `^18 || >=20.9`. */
export function satisfies(version, range) {
  const parts = parse(version);
  return range.split("||").some((all) => comparators(all).every((test) => test(parts)));
}

function comparators(text) {
  const hyphen = /^\s*(\S+)\s+-\s+(\S+)\s*$/.exec(text);
  const words = hyphen ? [`>=${hyphen[1]}`, `<=${hyphen[2]}`] : split(text);
  return words.map(comparator);
}

function split(text) {
  // `>= 18` is one comparator, not two.
  return text
    .replaceAll(/([<>=^~])\s+/g, "$1")
    .split(/[\s,]+/)
    .filter(Boolean);
}

function comparator(word) {
  const match = /^(>=|<=|>|<|\^|~|=)?v?(.*)$/.exec(word);
  const operator = match[1] ?? "=";
  const given = match[2].split(/[-+]/)[0].split(".").filter(isNumber).map(Number);
  const floor = [given[0] ?? 0, given[1] ?? 0, given[2] ?? 0];
  const above = next(given, operator);
  if (operator === ">=") return (version) => compare(version, floor) >= 0;
  if (operator === "<") return (version) => compare(version, floor) < 0;
  // `>20` means from 21 on; `<=20` means up to and with the whole of 20.
  if (operator === ">") return (version) => above !== undefined && compare(version, above) >= 0;
  if (operator === "<=") return (version) => above === undefined || compare(version, above) < 0;
  return (version) =>
    compare(version, floor) >= 0 && (above === undefined || compare(version, above) < 0);
}

// The first version that a comparator no longer covers; none for `*`.
function next(given, operator) {
  if (given.length === 0) return undefined;
  const [major, minor = 0, patch = 0] = given;
  if (operator === "^") {
    if (major > 0 || given.length === 1) return [major + 1, 0, 0];
    return minor > 0 || given.length === 2 ? [0, minor + 1, 0] : [0, 0, patch + 1];
  }
  if (given.length === 1) return [major + 1, 0, 0];
  if (operator === "~" || given.length === 2) return [major, minor + 1, 0];
  return [major, minor, patch + 1];
}

function isNumber(text) {
  return /^\d+$/.test(text);
}

function parse(version) {
  return version.split(".").map(Number);
}

function compare(left, right) {
  for (const index of [0, 1, 2]) {
    if (left[index] !== right[index]) return left[index] - right[index];
  }
  return 0;
}
