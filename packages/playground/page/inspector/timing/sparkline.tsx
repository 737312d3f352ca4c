import type { JSX } from "preact";
import type { Entry } from "../events/entries.ts";
import { formatCount, formatMs } from "../shared/format.ts";
import { deltasOverTime } from "./timing.ts";

const bars = 60;
const height = 40;

export interface SparklineProps {
  readonly entries: readonly Entry[];
  /** The end of the time that is shown, in milliseconds. */
  readonly end: number;
  readonly firstToken: number | undefined;
}

/** When the deltas came, as bars over time. */
export function Sparkline({ entries, end, firstToken }: SparklineProps): JSX.Element | null {
  if (firstToken === undefined || end <= 0) return null;
  const counts = deltasOverTime(entries, end, bars);
  const most = Math.max(...counts);
  const text = `${formatCount(most, "delta")} at most in ${formatMs(end / bars)}; the first after ${formatMs(firstToken)}`;
  return (
    <figure class="spark">
      <svg
        viewBox={`0 0 ${bars} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={text}
      >
        {counts.map((count, at) => {
          const size = count === 0 ? 0 : Math.max(1.5, (count / most) * height);
          return <rect key={at} x={at + 0.1} y={height - size} width={0.8} height={size} />;
        })}
      </svg>
      <div class="axis" aria-hidden="true">
        <span>0</span>
        <span>deltas over time</span>
        <span>{formatMs(end)}</span>
      </div>
      <figcaption class="remark">{text}.</figcaption>
    </figure>
  );
}
