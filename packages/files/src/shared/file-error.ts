import { AgentError } from "@holodeck/agui-core";
import type { AgentErrorCode } from "@holodeck/agui-core";

/** What can be wrong with a file. */
export type FileFault =
  | "empty"
  | "damaged"
  | "encrypted"
  | "not-base64"
  | "mismatch"
  | "unsupported"
  | "too-large"
  | "too-slow"
  | "unresolved";

const refusals: Readonly<Record<FileFault, readonly [code: AgentErrorCode, status: number]>> = {
  empty: ["invalid-request", 400],
  damaged: ["invalid-request", 400],
  encrypted: ["invalid-request", 400],
  "not-base64": ["invalid-request", 400],
  // 415 is for the type of the request itself; these faults concern the files in it.
  mismatch: ["unsupported-media-type", 400],
  unsupported: ["unsupported-media-type", 400],
  "too-large": ["payload-too-large", 413],
  "too-slow": ["payload-too-large", 413],
  unresolved: ["file-not-found", 400],
};

/** The refusal of one file, by name, with what is wrong with it. */
export class FileError extends AgentError {
  readonly file: string;
  readonly fault: FileFault;

  constructor(file: string, fault: FileFault, message: string) {
    const [code, status] = refusals[fault];
    super(code, message, { status });
    this.file = file;
    this.fault = fault;
  }
}
