import { signal } from "@preact/signals";
import type { Attachment } from "./attachments.ts";

let keys = 0;
const files = signal<readonly Attachment[]>([]);

/** The files that wait to be sent, wherever on the chat they were dropped. */
export function useFiles(): {
  files: readonly Attachment[];
  add(more: readonly File[]): void;
  remove(key: number): void;
  clear(): void;
} {
  return {
    files: files.value,
    add: addFiles,
    remove(key) {
      files.value = files.value.filter((one) => one.key !== key);
    },
    clear() {
      files.value = [];
    },
  };
}

export function addFiles(more: readonly File[]): void {
  files.value = [...files.value, ...more.map((file) => ({ key: keys++, file }))];
}
