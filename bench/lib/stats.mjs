/** The middle of a list of numbers: of an even count, the mean of the two in the middle. */
export function median(values) {
  if (values.length === 0) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return Number.isInteger(half) ? (sorted[half - 1] + sorted[half]) / 2 : sorted[Math.floor(half)];
}

/** The value below which a share of them lies. */
export function quantile(values, share) {
  if (values.length === 0) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/** Median, least and greatest of the rounds, or nothing where nothing was measured. */
export function summarize(values) {
  const known = values.filter(Number.isFinite);
  if (known.length === 0) return undefined;
  return { median: median(known), min: Math.min(...known), max: Math.max(...known) };
}

/** Each round's value against the base's in the same round, summed up. */
export function ratios(values, base) {
  return summarize(values.map((value, round) => value / base[round]));
}
