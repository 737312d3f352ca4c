import { Icon } from "../../ui/icons.tsx";
import type { Plan } from "../state/plan.ts";

/** A plan out of the agent's state, ticked off as the state changes. */
export function PlanCard({ plan }: { plan: Plan }) {
  const done = plan.steps.filter(({ status }) => status === "done").length;
  return (
    <section class="plan" aria-label={`Plan: ${plan.title}`}>
      <header>
        <h3>{plan.title}</h3>
        <span>
          {done} of {plan.steps.length}
        </span>
      </header>
      <progress max={plan.steps.length} value={done} aria-label="Steps that are done" />
      <ol>
        {plan.steps.map(({ title, status }, index) => (
          <li key={index} data-status={status}>
            <span class="tick" aria-hidden="true">
              {status === "done" && <Icon name="check" />}
            </span>
            {title}
            <span class="sr-only"> ({status})</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
