import { AgentError } from "@holodeck/agui-core";
import type { Fault, Limits, Message } from "@holodeck/agui-core";

/** What decoding finds wrong, and what it has counted so far. */
export interface DecodeFaults {
  readonly faults: Fault[];
  readonly limits: Limits;
  fileBytes: number;
}

/** An empty list for a request. */
export function createDecodeFaults(limits: Limits): DecodeFaults {
  return { faults: [], limits, fileBytes: 0 };
}

const maxFaults = 20;

/** Notes one thing that is wrong, and where. */
export function addFault(findings: DecodeFaults, path: string, message: string): void {
  // A longer list does not help, and a small body must not cause a large response.
  if (findings.faults.length < maxFaults)
    findings.faults.push({ path, message: `${path} ${message}` });
}

/** Adds what a message was made from, as long as there are not more than a request may have. */
export function addWithinLimit(
  messages: Message[],
  more: readonly Message[],
  findings: DecodeFaults,
): void {
  const { messages: most } = findings.limits;
  if (messages.length > most) return;
  for (const message of more) {
    messages.push(message);
    if (messages.length <= most) continue;
    const text = `hold more than ${most} messages, counting each tool call's result; this server accepts at most ${most}.`;
    return addFault(findings, "messages", text);
  }
}

/** Throws when something is wrong: a 400 that names all of it, or a 413 when it is only too much. */
export function assertFaultless({ faults, fileBytes, limits }: DecodeFaults): void {
  if (faults.length > 0) {
    const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : "";
    throw new AgentError("invalid-request", `${faults[0]!.message}${more}`, { errors: faults });
  }
  if (fileBytes <= limits.inlineFileBytes) return;
  throw new AgentError(
    "payload-too-large",
    `The files in the messages have ${fileBytes} bytes; this server accepts at most ${limits.inlineFileBytes}.`,
  );
}
