import { isRecord, own } from "@holodeck/agui-core/internal";
import { isOpaqueId, ulid } from "@holodeck/agui-core";
import type { Json, Limits } from "@holodeck/agui-core";
import { fault } from "./faults.ts";
import { normaliseMessage } from "./normalise-message.ts";
import { each, maxEntries, pick, tooManyEntries, warn } from "./shape.ts";
import type { Notes, Shape } from "./shape.ts";

/** The limits that concern the input. */
export type InputLimits = Partial<Pick<Limits, "messages" | "messageChars">>;

/** The body as AG-UI 1.0 writes it, with what is not part of the run input set apart. */
export interface Normalised {
  readonly input: Json;
  readonly agentId: unknown;
  /** Where each message stood in the body, since some are left out. */
  readonly positions: readonly number[];
}

const envelope: Shape = {
  label: "",
  snake: true,
  required: [],
  optional: [
    "threadId",
    "runId",
    "protocolVersion",
    "parentRunId",
    "agentId",
    "state",
    "messages",
    "tools",
    "context",
    "forwardedProps",
    "resume",
  ],
};
const toolShape: Shape = {
  label: "tools[]: ",
  snake: true,
  required: ["name", "description"],
  optional: ["parameters", "metadata"],
};
const contextShape: Shape = {
  label: "context[]: ",
  snake: true,
  required: ["description", "value"],
  optional: [],
};
const resumeShape: Shape = {
  label: "resume[]: ",
  snake: true,
  required: ["interruptId", "status"],
  optional: ["payload", "metadata"],
};

/** Brings any spelling of a run input that we know into the one of AG-UI 1.0. Changes nothing in `body`. */
export function normaliseInput(body: Json, limits: InputLimits, notes: Notes): Normalised {
  const { agentId, threadId, runId, forwardedProps, resume, ...rest } = pick(body, envelope, notes);
  const { messages: sent = [], tools = [], context = [], ...others } = rest;
  const { messages, positions } = normaliseMessages(sent, limits, notes);
  const input: Json = { threadId: threadId ?? ulid(), runId: runId ?? ulid(), ...others };
  input.messages = messages;
  input.tools = pickEach(tools, toolShape, { path: "tools", notes });
  input.context = normaliseContext(context, notes);
  if (forwardedProps !== undefined) input.forwardedProps = forwardedProps;
  if (resume !== undefined) {
    input.resume = pickEach(resume, resumeShape, { path: "resume", notes });
  }
  for (const key of ["threadId", "runId", "parentRunId"]) {
    const id = input[key];
    if (typeof id === "string" && !isOpaqueId(id)) {
      notes.faults.push(fault([key], id, "1 to 256 visible characters"));
    }
  }
  if (agentId !== undefined && (typeof agentId !== "string" || agentId === "")) {
    notes.faults.push(fault(["agentId"], agentId, "the name of an agent"));
  }
  return { input, agentId, positions };
}

function pickEach(
  value: unknown,
  shape: Shape,
  list: { readonly path: string; readonly notes: Notes },
): unknown {
  return each(value, (entry) => pick(entry, shape, list.notes), list);
}

function normaliseContext(value: unknown, notes: Notes): unknown {
  if (!isRecord(value)) return pickEach(value, contextShape, { path: "context", notes });
  const descriptions = Object.keys(value);
  if (descriptions.length > maxEntries) {
    notes.faults.push(tooManyEntries("context", descriptions.length));
    return [];
  }
  return descriptions.map((description) => {
    const item = value[description];
    return { description, value: typeof item === "string" ? item : JSON.stringify(item) };
  });
}

function normaliseMessages(
  value: unknown,
  limits: InputLimits,
  notes: Notes,
): { messages: unknown; positions: number[] } {
  const { messages: maxMessages = Infinity, messageChars = Infinity } = limits;
  const positions: number[] = [];
  if (!Array.isArray(value)) return { messages: value, positions };
  if (value.length > maxMessages) {
    const message = `messages has ${value.length} entries; this server accepts at most ${maxMessages}.`;
    notes.faults.push({ path: "messages", message });
    return { messages: [], positions };
  }
  const messages: unknown[] = [];
  value.forEach((entry: unknown, index) => {
    if (isRecord(entry) && own(entry, "role") === "activity") {
      warn(notes, "messages[]: activity messages are for display only and were left out.");
      return;
    }
    const message = isRecord(entry) ? normaliseMessage(entry, index, notes) : entry;
    // What others wrote comes back as it was sent; only the body as a whole bounds it.
    const isNew = index === value.length - 1 && isRecord(message) && message.role === "user";
    const chars = isNew ? textLength(message.content) : 0;
    if (chars > messageChars) {
      const path = `messages.${index}.content`;
      const text = `${path} has ${chars} characters of text; this server accepts at most ${messageChars}.`;
      notes.faults.push({ path, message: text });
    }
    positions.push(index);
    messages.push(message);
  });
  return { messages, positions };
}

function textLength(content: unknown): number {
  if (typeof content === "string") return content.length;
  if (!Array.isArray(content)) return 0;
  let length = 0;
  for (const part of content) {
    if (isRecord(part) && typeof part.text === "string") length += part.text.length;
  }
  return length;
}
