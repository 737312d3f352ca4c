import type { Interrupt } from "@ag-ui/core";
import { useEffect, useRef, useState } from "preact/hooks";
import { isRecord } from "../client/json.ts";
import { JsonForm } from "./json-form.tsx";
import { chat } from "./instance.ts";

/** A question of the agent's to a person: yes or no, or what else it asks for. */
export function Approval({ interrupt }: { interrupt: Interrupt }) {
  const [reason, setReason] = useState("");
  const first = useRef<HTMLDivElement>(null);
  const { id, message } = interrupt;
  const isAnswered = chat.answered.value.has(id);
  // What is asked is what comes next.
  useEffect(() => first.current?.querySelector("button")?.focus({ preventScroll: true }), [id]);

  function answer(approved: boolean): void {
    const why = !approved && reason.trim() !== "" ? { reason: reason.trim() } : {};
    void chat.answerInterrupt(id, { approved, ...why });
  }

  return (
    <div class="ask" role="group" aria-label="Approval">
      <p>{message ?? "The agent asks for your approval."}</p>
      {isAnswered ? (
        <p class="note">Answered. The other questions are next.</p>
      ) : isYesOrNo(interrupt) ? (
        <div class="ask-row" ref={first}>
          <button type="button" class="primary" onClick={() => answer(true)}>
            Approve
          </button>
          <button type="button" class="danger" onClick={() => answer(false)}>
            Deny
          </button>
          <input
            type="text"
            aria-label="Reason for a no"
            placeholder="Reason (optional)"
            value={reason}
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
        </div>
      ) : (
        <JsonForm
          label="Your answer as JSON"
          onSubmit={(value) => void chat.answerInterrupt(id, value)}
          onCancel={() => void chat.answerInterrupt(id)}
        />
      )}
    </div>
  );
}

// A schema that wants more than a yes needs more than two buttons.
function isYesOrNo({ responseSchema }: Interrupt): boolean {
  const required = isRecord(responseSchema) ? responseSchema.required : undefined;
  return (
    !Array.isArray(required) || required.every((key) => key === "approved" || key === "reason")
  );
}
