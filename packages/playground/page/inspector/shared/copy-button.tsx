import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { copyText } from "../../ui/copy-text.ts";

const labels = { ready: "Copy", copied: "Copied", failed: "Not allowed" } as const;
const shownMs = 1500;

/** Copies a text that is built only on demand. */
export function CopyButton({ what, text }: { what: string; text: () => string }): JSX.Element {
  const state = useSignal<keyof typeof labels>("ready");
  const copy = async (): Promise<void> => {
    state.value = (await copyText(text())) ? "copied" : "failed";
    setTimeout(() => (state.value = "ready"), shownMs);
  };
  return (
    <button type="button" class="button" onClick={() => void copy()}>
      <span aria-live="polite">{labels[state.value]}</span>
      <span class="unseen"> {what}</span>
    </button>
  );
}
