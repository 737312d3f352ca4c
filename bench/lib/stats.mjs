/** The middle of a list of numbers. */
export function median(values) {
  return quantile(values, 0.5);
}

/** The value below which a share of them lies. */
export function quantile(values, share) {
  if (values.length === 0) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/** Half the distance between the quartiles, as a share of the median. */
export function spread(values) {
  return (quantile(values, 0.75) - quantile(values, 0.25)) / 2 / median(values);
}
