import { asText, isRecord } from "@holodeck/agui-core/internal";

/** An activity of the agent, in one line. */
export function ActivityLine({ type, content }: { type: string; content: unknown }) {
  const { title, label, text, message, status } = isRecord(content) ? content : {};
  const words = [title, label, text, message].map(asText).find((one) => one);
  return (
    <p class="activity">
      <span class="dot" data-status={asText(status) ?? "done"} aria-hidden="true" />
      <span class="activity-type">{type}</span> {words ?? JSON.stringify(content)}
      {asText(status) && <span class="activity-status"> {asText(status)}</span>}
    </p>
  );
}
