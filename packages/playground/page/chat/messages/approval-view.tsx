import { isRecord } from "@holodeck/agui-core/internal";
import type { Interrupt } from "@ag-ui/core";
import { useEffect, useRef, useState } from "preact/hooks";
import { focusComposer, focusOn } from "../composer/focus.ts";
import { chat } from "../state/instance.ts";
import { JsonForm } from "./json-form.tsx";

/** A question of the agent's to a person: yes or no, or what else it asks for. */
export function ApprovalView({ interrupt }: { interrupt: Interrupt }) {
  const [reason, setReason] = useState("");
  const group = useRef<HTMLDivElement>(null);
  const { id, message } = interrupt;
  const isAnswered = chat.answered.value.has(id);
  // The question, not the button: a key pressed too early must not be a yes.
  useEffect(() => focusOn(group.current), [id]);

  function send(payload?: unknown): void {
    focusComposer();
    void chat.answerInterrupt(id, payload);
  }

  function answer(approved: boolean): void {
    const why = !approved && reason.trim() !== "" ? { reason: reason.trim() } : {};
    send({ approved, ...why });
  }

  return (
    <div class="ask" role="group" aria-label="Approval" tabIndex={-1} ref={group}>
      <p>{message ?? "The agent asks for your approval."}</p>
      {isAnswered ? (
        <p class="note">Answered. The other questions are next.</p>
      ) : isYesOrNo(interrupt) ? (
        <div class="ask-row">
          <button type="button" class="primary" onClick={() => answer(true)}>
            Approve
          </button>
          <button type="button" class="danger" onClick={() => answer(false)}>
            Deny
          </button>
          <input
            type="text"
            aria-label="Reason for declining"
            placeholder="Reason (optional)"
            value={reason}
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
        </div>
      ) : (
        <JsonForm label="Your answer as JSON" onSubmit={send} onCancel={() => send()} />
      )}
    </div>
  );
}

// A schema that requires more than yes or no needs more than two buttons.
function isYesOrNo({ responseSchema }: Interrupt): boolean {
  const required = isRecord(responseSchema) ? responseSchema.required : undefined;
  return (
    !Array.isArray(required) || required.every((key) => key === "approved" || key === "reason")
  );
}
