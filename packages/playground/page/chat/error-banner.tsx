import { Icon } from "../ui/icons.tsx";
import { chat } from "./state/instance.ts";

/** Why it did not work, and another try. */
export function ErrorBanner() {
  const failure = chat.failure.value;
  const cause = chat.cause.value;
  if (failure === undefined) return null;
  const canRetry = chat.messages.value.some(({ role }) => role === "user");
  return (
    <div class="error-banner" role="alert">
      <Icon name="alert" />
      <div class="words">
        <p>{failure}</p>
        {cause !== undefined && (
          // Focusable, so that a long cause can be scrolled with the keyboard.
          <pre role="region" aria-label="Cause" tabIndex={0}>
            {cause}
          </pre>
        )}
      </div>
      {canRetry && (
        <button type="button" onClick={() => void chat.regenerate()}>
          Try again
        </button>
      )}
      <button type="button" class="round" aria-label="Dismiss" onClick={chat.dismissFailure}>
        <Icon name="close" />
      </button>
    </div>
  );
}
