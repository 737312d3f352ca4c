import { asText } from "@holodeck/agui-core/internal";
import type { ToolCall } from "@ag-ui/core";
import { useEffect, useRef } from "preact/hooks";
import { parseRecord } from "../../client/json.ts";
import { focusComposer, focusOn } from "../composer/focus.ts";
import { JsonForm } from "./json-form.tsx";
import { LocationForm } from "./location-form.tsx";
import { Palette } from "../composer/palette.tsx";
import { chat } from "../state/instance.ts";

/** A call that this page answers. */
export function ClientTool({ call }: { call: ToolCall }) {
  const group = useRef<HTMLDivElement>(null);
  useEffect(() => focusOn(group.current), [call.id]);

  function answer(result: unknown): void {
    focusComposer();
    void chat.answerCall(call.id, result);
  }

  if (chat.answered.value.has(call.id)) {
    return <p class="note">Answered. The other questions are next.</p>;
  }
  const { question, reason } = parseRecord(call.function.arguments) ?? {};
  return (
    <div
      class="ask"
      role="group"
      aria-label={`Answer ${call.function.name}`}
      tabIndex={-1}
      ref={group}
    >
      {call.function.name === "pick_color" ? (
        <Palette question={asText(question) ?? "Pick a colour."} onPick={answer} />
      ) : call.function.name === "get_location" ? (
        <LocationForm reason={asText(reason) ?? "Where are you?"} onSubmit={answer} />
      ) : (
        <JsonForm label="The result, as JSON or text" onSubmit={answer} />
      )}
    </div>
  );
}
