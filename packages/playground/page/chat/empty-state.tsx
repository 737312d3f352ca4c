import { agent } from "../shell/server-state.ts";
import { QuestionButtons } from "./composer/suggestions.tsx";

const usual = ["What can you do?", "Hello!"];

/** Before the first question. */
export function EmptyState() {
  if (!agent.value) return <div class="empty" />;
  const { name, description, suggestions } = agent.value;
  return (
    <div class="empty">
      <h1>Talk to {name}</h1>
      <p>{description ?? "Ask something, drop a file, and see every event on the right."}</p>
      <QuestionButtons
        label="Questions to begin with"
        questions={suggestions.length > 0 ? suggestions : usual}
      />
    </div>
  );
}
