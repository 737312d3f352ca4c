/** A straight line through points, and how sure its slope is. */
export interface Trend {
  readonly slope: number;
  /** Half of the interval that holds the slope with 95 % confidence. */
  readonly margin: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

// Student's t for 95 %, two-sided, by degrees of freedom; two is close enough past these.
const table = [Infinity, 12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

/** Least squares. With fewer than three points nothing is sure. */
export function trendOf(points: readonly Point[]): Trend {
  const count = points.length;
  const mean = (of: (point: Point) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / count;
  const [meanX, meanY] = [mean(({ x }) => x), mean(({ y }) => y)];
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  if (count < 3 || spread === 0) return { slope: 0, margin: Infinity };
  const slope = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const left = points.reduce((sum, { x, y }) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  const student = table[count - 2] ?? 2.2;
  return { slope, margin: student * Math.sqrt(left / (count - 2) / spread) };
}
