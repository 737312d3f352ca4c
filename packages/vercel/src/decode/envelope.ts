import { asText, isRecord, own } from "@holodeck/agui-core/internal";
import { isOpaqueId } from "@holodeck/agui-core";
import type { Json, RunAgentInput } from "@holodeck/agui-core";
import { addFault } from "./faults.ts";
import type { DecodeFaults } from "./faults.ts";

/** The members of a body besides its messages. */
export interface Envelope extends Pick<RunAgentInput, "tools" | "context" | "state" | "resume"> {
  readonly threadId?: string;
  readonly agentId?: string;
  readonly forwardedProps: Json;
}

type Tools = RunAgentInput["tools"];
type Context = RunAgentInput["context"];
type Resume = NonNullable<RunAgentInput["resume"]>;

/**
 * The envelope of a chat request: `id` names the thread; `tools`, `context`, `state`, `resume` and
 * `agentId` count where they have AG-UI's form; whatever else is in the body goes to the agent as
 * `forwardedProps`.
 */
export function readEnvelope(body: Json, findings: DecodeFaults): Envelope {
  const { id, messages: _, message: __, ...rest } = body;
  const forwardedProps: Json = { ...rest };
  const take = <T>(key: string, read: (value: unknown) => T | undefined): T | undefined => {
    const value = read(own(rest, key));
    if (value !== undefined) delete forwardedProps[key];
    return value;
  };
  const tools = take("tools", readTools) ?? [];
  const context = take("context", readContext) ?? [];
  const resume = take("resume", readResume);
  const state = take("state", (value) => (isRecord(value) ? value : undefined));
  const agentId = take("agentId", (value) => asText(value) || undefined);
  if (id !== undefined && id !== null && !isOpaqueId(id)) {
    addFault(findings, "id", "must be 1 to 256 visible characters.");
  }
  return {
    tools,
    context,
    forwardedProps,
    state: state ?? {},
    ...(isOpaqueId(id) && { threadId: id }),
    ...(resume && { resume }),
    ...(agentId !== undefined && { agentId }),
  };
}

/** A list of tools, or a map of them by name as assistant-ui sends it. */
function readTools(value: unknown): Tools | undefined {
  const entries = isRecord(value)
    ? Object.entries(value).map(([name, tool]) => (isRecord(tool) ? { ...tool, name } : undefined))
    : Array.isArray(value)
      ? (value as unknown[])
      : undefined;
  return entries?.flatMap((entry) => {
    if (!isRecord(entry) || typeof entry.name !== "string") return [];
    const parameters = entry.parameters ?? entry.inputSchema;
    return {
      name: entry.name,
      description: asText(entry.description) ?? "",
      ...(parameters !== undefined && { parameters }),
    };
  });
}

function readContext(value: unknown): Context | undefined {
  if (!Array.isArray(value) || !value.every(isRecord)) return undefined;
  const entries = value.flatMap(({ description, value: text }) =>
    typeof description === "string" && typeof text === "string" ? { description, value: text } : [],
  );
  return entries.length === value.length ? entries : undefined;
}

function readResume(value: unknown): Resume | undefined {
  if (!Array.isArray(value) || !value.every(isRecord)) return undefined;
  const entries = value.flatMap(({ interruptId, status, payload }): Resume => {
    if (typeof interruptId !== "string") return [];
    if (status !== "resolved" && status !== "cancelled") return [];
    return [{ interruptId, status, ...(payload !== undefined && payload !== null && { payload }) }];
  });
  return entries.length === value.length ? entries : undefined;
}
