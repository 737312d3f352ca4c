import { AgentError } from "@holodeck/agui-core";
import type { Limits } from "@holodeck/agui-core";

/** What the files of one request may have together. */
export interface FileBudget {
  left(): number;
  /** Throws when there is not so much left. */
  take(bytes: number): void;
  error(): AgentError;
}

export function createFileBudget({ uploadBytes }: Pick<Limits, "uploadBytes">): FileBudget {
  let left = uploadBytes;
  const error = (): AgentError =>
    new AgentError(
      "payload-too-large",
      `The files of the request are larger than ${uploadBytes} bytes (limits.uploadBytes).`,
    );
  return {
    left: () => left,
    take(bytes) {
      if (bytes > left) throw error();
      left -= bytes;
    },
    error,
  };
}

/** Throws when a message, or the request, has too many files. Nothing was brought here at that time. */
export function assertFileCounts(
  counts: readonly number[],
  { files, requestFiles }: Pick<Limits, "files" | "requestFiles">,
): void {
  const most = Math.max(0, ...counts);
  if (most > files) {
    const detail = `A message has ${most} files; this server accepts at most ${files}.`;
    throw new AgentError("invalid-request", detail);
  }
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all > requestFiles) {
    const detail = `The request has ${all} files; this server accepts at most ${requestFiles} (limits.requestFiles).`;
    throw new AgentError("invalid-request", detail);
  }
}
