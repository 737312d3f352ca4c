import type { JSX } from "preact";
import type { Family } from "../events/families.ts";

// A shape each, because colours alone are not visible to all users.
const shapes: Readonly<Record<Family, string>> = {
  run: "M2 2h8v8H2z",
  step: "M1 10 6 2l5 8z",
  text: "M6 1a5 5 0 1 0 0 10A5 5 0 0 0 6 1z",
  reasoning: "M6 1a5 5 0 1 0 0 10A5 5 0 0 0 6 1zm0 2.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z",
  tool: "M6 .5 11.5 6 6 11.5.5 6z",
  state: "M4.5 1h3v3.5H11v3H7.5V11h-3V7.5H1v-3h3.5z",
  activity: "M1 2h10L6 10z",
  other: "M1 4.5h10v3H1z",
};

/** The sign of a family: a colour and a shape. */
export function FamilyMark({ family }: { family: Family }): JSX.Element {
  return (
    <svg class={`mark family-${family}`} viewBox="0 0 12 12" aria-hidden="true">
      <path d={shapes[family]} fill-rule="evenodd" />
    </svg>
  );
}
