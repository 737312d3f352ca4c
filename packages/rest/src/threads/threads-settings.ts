import { AgentError, isOpaqueId } from "@holodeck/agui-core";
import { describeValue } from "@holodeck/agui-core/internal";

/** Which thread ids are understood. */
export type ThreadIdFormat = "uuid" | "any";

/** What a host may choose. */
interface Choices {
  readonly maxMessagesPerThread?: number;
  readonly idFormat?: ThreadIdFormat;
  readonly validationStatus?: 400 | 422;
}

/** The options with their defaults. */
export interface ThreadsSettings {
  readonly maxMessages: number;
  readonly validationStatus: 400 | 422;
  readonly idFormat: ThreadIdFormat;
}

/** Fills in the defaults; throws for what cannot be. */
export function toThreadsSettings(options: Choices): ThreadsSettings {
  const { maxMessagesPerThread: maxMessages = 50, idFormat = "uuid" } = options;
  const { validationStatus = 400 } = options;
  if (!Number.isInteger(maxMessages) || maxMessages < 1) {
    const given = describeValue(maxMessages);
    throw new TypeError(
      `maxMessagesPerThread of threads must be a whole number above 0, not ${given}.`,
    );
  }
  assertOneOf("idFormat", idFormat, ["uuid", "any"]);
  assertOneOf("validationStatus", validationStatus, [400, 422]);
  return { maxMessages, validationStatus, idFormat };
}

function assertOneOf(name: string, value: unknown, allowed: readonly unknown[]): void {
  if (allowed.includes(value)) return;
  const list = allowed.map((one) => JSON.stringify(one)).join(" or ");
  throw new TypeError(`${name} of threads must be ${list}, not ${describeValue(value)}.`);
}

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** The id as a key of the store; nothing when it is not one. */
export function toThreadId(id: string, format: ThreadIdFormat): string | undefined {
  if (format === "any") return isOpaqueId(id) ? id : undefined;
  // Some platforms write UUIDs in capitals; they mean the same.
  return uuid.test(id) ? id.toLowerCase() : undefined;
}

/** The message for an invalid id. */
export function idFault(format: ThreadIdFormat): string {
  return format === "uuid"
    ? "thread_id must be a valid UUID"
    : "thread_id must have 1 to 256 visible characters";
}

/** The thread a path names. Throws when it cannot be one. */
export function threadIn(
  { id = "" }: Readonly<Record<string, string>>,
  { idFormat, validationStatus: status }: ThreadsSettings,
): string {
  const threadId = toThreadId(id, idFormat);
  if (threadId !== undefined) return threadId;
  throw invalid({ path: "thread_id", message: idFault(idFormat) }, status);
}

/** A refusal for one thing that is wrong. */
export function invalid(fault: { path: string; message: string }, status: number): AgentError {
  return new AgentError("invalid-request", `${fault.message}.`, { status, errors: [fault] });
}
