import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../../ui/icons.tsx";

/** What the agent thinks: open while it does, folded afterwards. */
export function Reasoning({ text, isOpen }: { text: string; isOpen: boolean }) {
  const details = useRef<HTMLDetailsElement>(null);
  // Only when that changes: a reader who opened it keeps it open.
  useEffect(() => {
    if (details.current) details.current.open = isOpen;
  }, [isOpen]);
  return (
    <details class="reasoning" ref={details}>
      <summary>
        <Icon name="thought" /> {isOpen ? "Thinking…" : "Thoughts"}
      </summary>
      <p>{text}</p>
    </details>
  );
}
