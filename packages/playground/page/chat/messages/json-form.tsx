import { useState } from "preact/hooks";
import { parseJsonText } from "../../client/json.ts";

interface JsonFormProps {
  readonly label: string;
  onSubmit(value: unknown): void;
  onCancel?(): void;
}

/** Any answer: JSON, or plain text, which is sent as a string. */
export function JsonForm({ label, onSubmit, onCancel }: JsonFormProps) {
  const [text, setText] = useState("");
  return (
    <form
      class="ask-form"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(parseJsonText(text) ?? text);
      }}
    >
      <label>
        {label}
        <textarea
          rows={3}
          spellcheck={false}
          placeholder={'{ "answer": 42 }'}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <div class="ask-row">
        <button type="submit" class="primary" disabled={text.trim() === ""}>
          Send the answer
        </button>
        {onCancel && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
}
