import type { JSX } from "preact";
import { formatMs } from "../shared/format.ts";
import type { StateStep } from "./history.ts";

export interface StepBarProps {
  readonly steps: readonly StateStep[];
  /** How many changes are applied. */
  readonly at: number;
  readonly onPick: (at: number) => void;
}

/** Leads through the changes of a run, one by one. */
export function StepBar({ steps, at, onPick }: StepBarProps): JSX.Element {
  if (steps.length === 0) return <p class="remark">No event of this run contains state.</p>;
  const text = describe(steps, at);
  return (
    <div class="step-bar">
      <div class="bar">
        <button type="button" class="button" disabled={at === 0} onClick={() => onPick(at - 1)}>
          ‹<span class="unseen"> Change before</span>
        </button>
        <input
          type="range"
          aria-label="Changes of the state"
          aria-valuetext={text}
          min={0}
          max={steps.length}
          value={at}
          onInput={(event) => onPick(event.currentTarget.valueAsNumber)}
        />
        <button
          type="button"
          class="button"
          disabled={at === steps.length}
          onClick={() => onPick(at + 1)}
        >
          ›<span class="unseen"> Change after</span>
        </button>
      </div>
      <p class="step-text">{text}</p>
    </div>
  );
}

function describe(steps: readonly StateStep[], at: number): string {
  const step = steps[at - 1];
  if (!step) return `Before all ${steps.length} changes, as it was sent`;
  const { event, at: ms } = step.entry;
  return `Change ${at} of ${steps.length} · ${event.type} · ${formatMs(ms)}`;
}
