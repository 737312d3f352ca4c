import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { CodeBlock } from "../shared/code-block.tsx";
import { CopyButton } from "../shared/copy-button.tsx";
import { toPrettyJson } from "../shared/json.ts";
import type { Row } from "./rows.ts";

/** A line of the timeline with all its details. */
export function EventDetail({ row, onClose }: { row: Row; onClose: () => void }): JSX.Element {
  const { first, entries } = row;
  const json = useMemo(
    () => toPrettyJson(entries.length === 1 ? first.event : entries.map(({ event }) => event)),
    [first.event, entries.length],
  );
  const title = entries.length === 1 ? first.event.type : `${entries.length} × ${first.event.type}`;
  return (
    <section
      class="detail"
      aria-label="Raw event"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        // Elsewhere in the page this key stops the run.
        event.stopPropagation();
        onClose();
      }}
    >
      <div class="bar">
        <h3>{title}</h3>
        <CopyButton what="JSON" text={() => json} />
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
      <CodeBlock label="Raw JSON" code={json} language="json" />
    </section>
  );
}
