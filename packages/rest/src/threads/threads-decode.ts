import { isLargerThan, isRecord } from "@holodeck/agui-core/internal";
import { AgentError } from "@holodeck/agui-core";
import type { Fault, Json, Tool } from "@holodeck/agui-core";
import type { BodyReader, ThreadTool, ThreadToolParameter } from "./threads-check.ts";
import { invalid, toThreadId } from "./threads-settings.ts";
import type { ThreadsSettings } from "./threads-settings.ts";

/** The body, checked, with the thread's id as the store knows it. Throws with everything that is wrong with it. */
export function decodeThreadsChat<T extends { thread_id?: string | null | undefined }>(
  body: unknown,
  read: BodyReader<T>,
  { idFormat, validationStatus: status }: ThreadsSettings,
): Omit<T, "thread_id"> & { thread_id: string | undefined } {
  if (!isRecord(body)) throw invalid({ path: "", message: "The body must be an object" }, status);
  const fault = tooMuchIn(body);
  if (fault) throw invalid(fault, status);
  const { data, faults } = read(body, idFormat);
  if (faults.length > 0) throw refusal(faults, status);
  const { thread_id: given } = data;
  return { ...data, thread_id: given ? toThreadId(given, idFormat) : undefined };
}

// A longer list does not help, and a small body must not cause a large response.
const maxFaults = 20;

const maxTools = 128;
const maxParameters = 1_000;
/** The metadata of a thread, in characters: it adds up over requests, and is read with every one of them. */
export const maxMetadata = 65_536;

// Before the schema looks at each of them: a small body can hold a hundred thousand.
function tooMuchIn({ tools, metadata }: Json): Fault | undefined {
  if (isRecord(metadata) && isLargerThan(metadata, maxMetadata)) return tooMuchMetadata;
  if (!Array.isArray(tools)) return undefined;
  if (tools.length > maxTools) {
    return { path: "tools", message: `tools must be at most ${maxTools}` };
  }
  let count = 0;
  for (const tool of tools as unknown[]) {
    const parameters = isRecord(tool) ? tool["parameters"] : undefined;
    if (Array.isArray(parameters)) count += parameters.length;
  }
  if (count <= maxParameters) return undefined;
  return { path: "tools", message: `tools must have at most ${maxParameters} parameters` };
}

/** The fault of a thread with too much metadata. */
export const tooMuchMetadata: Fault = {
  path: "metadata",
  message: `metadata of a thread must have at most ${maxMetadata} characters`,
};

function refusal(faults: readonly Fault[], status: number): AgentError {
  const more = faults.length - 1;
  const rest = more > 0 ? ` ${more} more in "errors".` : "";
  const message = `The request is not valid: ${faults[0]?.message}.${rest}`;
  const errors = faults.slice(0, maxFaults);
  return new AgentError("invalid-request", message, { status, errors });
}

/** A client's tool as AG-UI defines one. */
export function toTool({ name, description = "", parameters, timeout_seconds }: ThreadTool): Tool {
  return {
    name,
    description,
    parameters: Array.isArray(parameters) ? toSchema(parameters) : (parameters ?? {}),
    ...(timeout_seconds === undefined ? {} : { metadata: { timeoutMs: timeout_seconds * 1_000 } }),
  };
}

function toSchema(parameters: readonly ThreadToolParameter[]): object {
  const properties = parameters.map((one): [string, object] => {
    const { type, description, default: otherwise } = one;
    const about = description === undefined ? { type } : { type, description };
    return [one.name, otherwise === undefined ? about : { ...about, default: otherwise }];
  });
  const required = parameters.filter((one) => one.required !== false).map(({ name }) => name);
  return { type: "object", properties: Object.fromEntries(properties), required };
}
