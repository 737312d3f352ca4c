import { useState } from "preact/hooks";
import { wire } from "../../model.ts";
import { Icon } from "../../ui/icons.tsx";
import { copyText } from "../../ui/copy-text.ts";
import { chat } from "../state/instance.ts";

/** What can be done with the last answer. */
export function TurnActions() {
  const [isCopied, setCopied] = useState(false);
  const messages = chat.messages.value;
  const last = messages.findLastIndex(({ role }) => role === "user");
  const answer = messages
    .slice(last + 1)
    .flatMap((one) => (one.role === "assistant" && one.content ? one.content : []))
    .join("\n\n");
  const isWaiting = chat.pending.value.length > 0 || chat.interrupts.value.length > 0;
  if (chat.status.value !== "idle" || last < 0 || isWaiting) return null;
  return (
    <div class="turn-actions">
      {answer !== "" && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            void copyText(answer).then(setCopied);
            setTimeout(() => setCopied(false), 1500);
          }}
        >
          <Icon name={isCopied ? "check" : "copy"} /> {isCopied ? "Copied" : "Copy"}
        </button>
      )}
      {/* Over REST the server keeps the conversation, and takes nothing back. */}
      {wire.value !== "rest" && (
        <button type="button" class="quiet" onClick={() => void chat.regenerate()}>
          <Icon name="redo" /> Regenerate
        </button>
      )}
    </div>
  );
}
