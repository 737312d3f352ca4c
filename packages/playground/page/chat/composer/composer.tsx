import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { limits, server } from "../../shell/server-state.ts";
import { Icon } from "../../ui/icons.tsx";
import { AttachmentList } from "./attachment-list.tsx";
import { refusalOf, toPart } from "./attachments.ts";
import { useFiles } from "./use-files.ts";
import { draft } from "./draft.ts";
import { chat } from "../state/instance.ts";

/** The box for a question: Enter sends, Shift+Enter is a new line. */
export function Composer() {
  const [text, setText] = useState("");
  const [replaces, setReplaces] = useState<string>();
  const box = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const { files, add, remove, clear } = useFiles();
  const isIdle = chat.status.value === "idle";
  const refusal = refusalOf(
    files.map(({ file }) => file),
    limits.value,
  );
  // The agent is known once the server has responded.
  const canSend = isIdle && server.value && !refusal && (text.trim() !== "" || files.length > 0);

  // A question to be edited comes from its message.
  useEffect(
    () =>
      draft.subscribe((wanted) => {
        if (!wanted) return;
        setText(wanted.text);
        clear();
        add(wanted.files);
        setReplaces(wanted.replaces);
        draft.value = undefined;
        box.current?.focus();
      }),
    [],
  );
  useEffect(() => {
    if (box.current) fit(box.current);
  }, [text]);

  async function send(): Promise<void> {
    if (!canSend) return;
    const parts = await Promise.all(files.map(({ file }) => toPart(file)));
    const message = text.trim();
    const words = message === "" ? [] : [{ type: "text" as const, text: message }];
    setText("");
    setReplaces(undefined);
    clear();
    await chat.ask(parts.length > 0 ? [...words, ...parts] : message, replaces);
  }

  function onKeyDown(event: TargetedKeyboardEvent<HTMLTextAreaElement>): void {
    // Enter also ends a word in Japanese or Chinese; that one is not meant.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void send();
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {replaces !== undefined && (
        <p class="note">
          Editing this message removes everything after it.{" "}
          <button
            type="button"
            class="link"
            onClick={() => {
              setReplaces(undefined);
              setText("");
              clear();
            }}
          >
            Never mind
          </button>
        </p>
      )}
      <AttachmentList files={files} onRemove={remove} />
      {refusal && (
        <p class="refusal" role="alert">
          {refusal}
        </p>
      )}
      <div class="composer-row">
        <button
          type="button"
          class="round"
          aria-label="Attach files"
          title="Attach files"
          onClick={() => picker.current?.click()}
        >
          <Icon name="attach" />
        </button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files"
          onChange={({ currentTarget }) => {
            add([...(currentTarget.files ?? [])]);
            currentTarget.value = "";
          }}
        />
        <textarea
          ref={box}
          rows={1}
          aria-label="Your question"
          placeholder="Ask something"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={onKeyDown}
          onPaste={(event) => {
            const pasted = [...(event.clipboardData?.files ?? [])];
            if (pasted.length === 0) return;
            event.preventDefault();
            add(pasted);
          }}
        />
        {isIdle ? (
          <button type="submit" class="round primary" aria-label="Send" disabled={!canSend}>
            <Icon name="send" />
          </button>
        ) : (
          <button
            type="button"
            class="round stop"
            aria-label="Stop"
            title="Stop (Escape)"
            disabled={chat.status.value === "stopping"}
            onClick={() => void chat.stop()}
          >
            <Icon name="stop" />
          </button>
        )}
      </div>
    </form>
  );
}

// Grows with its text up to what CSS allows.
function fit(area: HTMLTextAreaElement): void {
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}
