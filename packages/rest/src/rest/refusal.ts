import { clip } from "@holodeck/agui-core/internal";
import { AgentError } from "@holodeck/agui-core";
import type { Fault } from "@holodeck/agui-core";

/** One thing that is wrong with a request, and whether it is the type of a file. */
export interface ChatFault extends Fault {
  readonly isMimeType?: boolean;
}

/** The refusal of a request with all its faults; the message is that of the first one. */
export function refusal(faults: readonly ChatFault[]): AgentError {
  const more = faults.length - 1;
  const rest = more < 1 ? "" : ` (${more} more ${more === 1 ? "fault" : "faults"} in "errors")`;
  const isMimeType = faults.every((fault) => fault.isMimeType);
  return new AgentError(
    isMimeType ? "unsupported-media-type" : "invalid-request",
    `${faults[0]?.message}${rest}`,
    // 415 is for the type of the body itself; this is the type of a file in it.
    { status: 400, errors: faults.map(({ path, message }) => ({ path, message })) },
  );
}

/** The refusal of a file whose type is not among those that may be uploaded. */
export function unsupportedType(mimeType: string): string {
  return `Unsupported MIME type: ${clip(mimeType, 100)}`;
}

export function tooManyFiles(limit: number): ChatFault {
  return { path: "files", message: `files must be at most ${limit}` };
}

export function payloadTooLarge(message: string): AgentError {
  return new AgentError("payload-too-large", message);
}
