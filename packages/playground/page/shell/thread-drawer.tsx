import { useEffect, useRef } from "preact/hooks";
import { chat } from "../chat/state/instance.ts";
import type { ThreadInfo } from "../client/server.ts";
import { Icon } from "../ui/icons.tsx";
import { isDrawerOpen, tab } from "./layout.ts";
import { refreshThreads, threadList } from "./server-state.ts";

/** The conversations that there are, to go back to one. */
export function ThreadDrawer() {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = isDrawerOpen.value;
  useEffect(() => {
    if (!isOpen) return dialog.current?.close();
    void refreshThreads();
    // The browser keeps the focus inside, and gives it back.
    dialog.current?.showModal();
  }, [isOpen]);
  return (
    <dialog
      id="threads"
      class="threads"
      aria-label="Conversations"
      ref={dialog}
      onClose={close}
      onClick={({ target, currentTarget }) => {
        // Outside of it: there the target of a click is the dialog itself.
        if (target === currentTarget) close();
      }}
    >
      <nav aria-label="Conversations">
        <header>
          <h2>Conversations</h2>
          <button type="button" class="round" aria-label="Close" onClick={close}>
            <Icon name="close" />
          </button>
        </header>
        {threadList.value.length === 0 && <p class="note">None yet. Ask something.</p>}
        <ul>
          {threadList.value.map((thread) => (
            <li key={thread.id}>
              <button
                type="button"
                aria-current={thread.id === chat.threadId.value}
                onClick={() => void open(thread)}
              >
                <span class="thread-name">
                  {thread.name ?? `Conversation ${thread.id.slice(-6)}`}
                </span>
                <time dateTime={new Date(thread.usedAt).toISOString()}>{when(thread.usedAt)}</time>
              </button>
            </li>
          ))}
        </ul>
      </nav>
    </dialog>
  );
}

function close(): void {
  isDrawerOpen.value = false;
}

async function open({ id, agentId }: ThreadInfo): Promise<void> {
  close();
  tab.value = "chat";
  await chat.openThread(id, agentId ?? chat.agentId.value);
}

function when(time: number): string {
  const date = new Date(time);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday
    ? date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
    : date.toLocaleDateString();
}
