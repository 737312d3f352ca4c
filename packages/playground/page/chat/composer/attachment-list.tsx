import { Icon } from "../../ui/icons.tsx";
import { formatFileSize } from "./attachments.ts";
import type { Attachment } from "./attachments.ts";

interface AttachmentListProps {
  readonly files: readonly Attachment[];
  onRemove(key: number): void;
}

export function AttachmentList({ files, onRemove }: AttachmentListProps) {
  if (files.length === 0) return null;
  return (
    <ul class="attachments" aria-label="Attached files">
      {files.map(({ key, file }) => (
        <li key={key} class="chip">
          <Icon name="file" />
          <span class="chip-name">{file.name}</span>
          <span class="chip-size">{formatFileSize(file.size)}</span>
          <button type="button" aria-label={`Remove ${file.name}`} onClick={() => onRemove(key)}>
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
