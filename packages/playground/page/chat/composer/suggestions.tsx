import { chat } from "../state/instance.ts";

/** Questions that the agent proposes. */
export function Suggestions() {
  const questions = chat.suggestions.value;
  if (questions.length === 0 || chat.status.value !== "idle") return null;
  return <QuestionButtons label="Suggested questions" questions={questions} />;
}

interface QuestionButtonsProps {
  readonly label: string;
  readonly questions: readonly string[];
}

export function QuestionButtons({ label, questions }: QuestionButtonsProps) {
  return (
    <ul class="suggestions" aria-label={label}>
      {questions.map((question) => (
        <li key={question}>
          <button type="button" onClick={() => void chat.ask(question)}>
            {question}
          </button>
        </li>
      ))}
    </ul>
  );
}
