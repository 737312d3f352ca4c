import { chat } from "../state/instance.ts";

/** The steps of the run, and the subagents at work in it. */
export function StepLines() {
  const steps = chat.steps.value;
  if (steps.length === 0) return null;
  return (
    <ul class="steps" aria-label="Steps">
      {steps.map(({ key, name, status }) => (
        <li key={key}>
          <span class="dot" data-status={status} aria-hidden="true" /> {name}
          <span class="activity-status"> {status}</span>
        </li>
      ))}
    </ul>
  );
}
