import { useEffect } from "preact/hooks";
import { isDrawerOpen } from "../shell/layout.ts";
import { Composer } from "./composer/composer.tsx";
import { DropZone } from "./composer/drop-zone.tsx";
import { EmptyState } from "./empty-state.tsx";
import { ErrorBanner } from "./error-banner.tsx";
import { chat } from "./state/instance.ts";
import { MessageListView } from "./messages/message-list-view.tsx";
import { RunNews } from "./messages/run-news.tsx";
import { Suggestions } from "./composer/suggestions.tsx";

/** The left half: the conversation, and the box to go on with it. */
export function ChatPane() {
  const isEmpty = chat.messages.value.length === 0 && chat.status.value !== "loading";
  useEffect(() => {
    document.addEventListener("keydown", stopOnEscape);
    return () => document.removeEventListener("keydown", stopOnEscape);
  }, []);
  return (
    <section class="chat" aria-label="Chat">
      <DropZone>
        {isEmpty && chat.failure.value === undefined ? <EmptyState /> : <MessageListView />}
        <div class="chat-foot">
          <ErrorBanner />
          <Suggestions />
          <Composer />
        </div>
      </DropZone>
      <RunNews />
    </section>
  );
}

function stopOnEscape({ key, defaultPrevented }: KeyboardEvent): void {
  if (key === "Escape" && !defaultPrevented && !isDrawerOpen.value) void chat.stop();
}
