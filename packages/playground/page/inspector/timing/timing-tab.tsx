import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { RecordedExchange, RecordedFrame } from "../../model.ts";
import type { Entry } from "../events/entries.ts";
import { familyOf } from "../events/families.ts";
import { FamilyMark } from "../shared/family-mark.tsx";
import { formatBytes, formatMs, formatNumber } from "../shared/format.ts";
import { Sparkline } from "./sparkline.tsx";
import { measure } from "./timing.ts";

export interface TimingTabProps {
  readonly exchange: RecordedExchange;
  readonly frames: readonly RecordedFrame[];
  readonly entries: readonly Entry[];
}

/** How long everything took. */
export function TimingTab({ exchange, frames, entries }: TimingTabProps): JSX.Element {
  const dropped = exchange.dropped?.value.bytes;
  const timing = useMemo(() => measure(frames, entries, dropped), [frames, entries, dropped]);
  const { tokens, isEstimate, longestGap } = timing;
  const about = isEstimate ? "≈ " : "";
  const hint = isEstimate ? "estimated: characters ÷ 4" : "as reported at the end of the run";
  return (
    <div class="timing" tabIndex={0} role="region" aria-label="Timing">
      <dl class="figures">
        <Figure name="First byte" value={ms(timing.firstByte)} />
        <Figure name="First event" value={ms(timing.firstEvent)} />
        <Figure
          name="First token"
          value={ms(timing.firstToken)}
          hint="text, reasoning or arguments"
        />
        <Figure name="Total" value={ms(timing.lastByte)} hint="to the last byte" />
        <Figure name="Tokens" value={about + formatNumber(tokens)} hint={hint} />
        <Figure name="Tokens per second" value={pace(timing.tokensPerSecond, about)} hint={hint} />
        <Figure name="Deltas" value={formatNumber(timing.deltas)} />
        <Figure name="Deltas per second" value={pace(timing.deltasPerSecond)} />
        <Figure
          name="Longest gap"
          value={ms(longestGap?.ms)}
          hint={longestGap && `before ${longestGap.before}`}
        />
        <Figure name="Events" value={formatNumber(timing.events)} />
        <Figure name="Frames" value={formatNumber(frames.length)} />
        <Figure name="Bytes" value={formatBytes(timing.bytes)} />
      </dl>
      <Sparkline entries={entries} end={timing.lastByte ?? 0} firstToken={timing.firstToken} />
      {timing.counts.length > 0 && (
        <table class="counts">
          <caption>Events by type</caption>
          <tbody>
            {timing.counts.map(([type, count]) => (
              <tr key={type}>
                <th scope="row">
                  <FamilyMark family={familyOf(type)} />
                  {type}
                </th>
                <td>{formatNumber(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly hint?: string | undefined;
}

function Figure({ name, value, hint }: FigureProps): JSX.Element {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>
        {value}
        {hint !== undefined && <small>{hint}</small>}
      </dd>
    </div>
  );
}

function ms(value: number | undefined): string {
  return value === undefined ? "–" : formatMs(value);
}

function pace(value: number | undefined, about = ""): string {
  return value === undefined ? "–" : about + formatNumber(value);
}
