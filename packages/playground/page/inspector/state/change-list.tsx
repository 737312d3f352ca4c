import type { JSX } from "preact";
import type { Change } from "./changes.ts";
import type { StateStep } from "./history.ts";

const signs: Readonly<Record<Change["kind"], string>> = { added: "+", changed: "~", removed: "−" };
const maxShown = 12;

/** The places that one event changed. */
export function ChangeList({ step }: { step: StateStep | undefined }): JSX.Element | null {
  if (!step) return null;
  if (step.problem !== undefined) return <p class="problem">Changed nothing. {step.problem}</p>;
  const { changes } = step;
  if (changes.length === 0) return <p class="remark">Sent the same value again.</p>;
  const rest = changes.length - maxShown;
  return (
    <ul class="changes" aria-label="What changed">
      {changes.slice(0, maxShown).map(({ kind, pointer }) => (
        <li key={pointer} class={`change is-${kind}`}>
          <span aria-hidden="true">{signs[kind]}</span>
          <span class="unseen">{kind} </span>
          <code>{pointer || "(all)"}</code>
        </li>
      ))}
      {rest > 0 && <li class="remark">and {rest} more</li>}
    </ul>
  );
}
