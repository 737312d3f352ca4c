import type { Message } from "@ag-ui/core";
import { wire } from "../../model.ts";
import { Icon } from "../../ui/icons.tsx";
import { toFile } from "../composer/attachments.ts";
import { draft } from "../composer/draft.ts";
import { chat } from "../state/instance.ts";

type User = Extract<Message, { role: "user" }>;
type Part = Exclude<User["content"], string>[number];

/** A question, with what was attached to it. */
export function UserMessageView({ message, isLast }: { message: User; isLast: boolean }) {
  const parts = typeof message.content === "string" ? [] : message.content;
  const text = textOf(message.content);
  // REST keeps the conversation on the server, where nothing can be taken back.
  const canEdit = isLast && chat.status.value === "idle" && wire.value !== "rest";
  return (
    <article class="user" aria-label="Question">
      <div class="bubble">
        {parts.map((part, index) => part.type !== "text" && <FileView key={index} part={part} />)}
        {text !== "" && <p>{text}</p>}
      </div>
      {canEdit && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            const files = parts.flatMap((part) => toFile(part) ?? []);
            draft.value = { text, files, replaces: message.id };
          }}
        >
          <Icon name="edit" /> Edit
        </button>
      )}
    </article>
  );
}

function textOf(content: User["content"]): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
}

function FileView({ part }: { part: Exclude<Part, { type: "text" }> }) {
  const { source } = part;
  const name = String(part.metadata?.filename ?? source.mimeType ?? "File");
  if (part.type === "image" && source.type === "data") {
    return (
      <img class="picture" src={`data:${source.mimeType};base64,${source.value}`} alt={name} />
    );
  }
  return (
    <span class="chip">
      <Icon name="file" /> {name}
    </span>
  );
}
