import { z } from "zod";
import { defaultLimits } from "@holodeck/agui-core";
import type { Limits } from "@holodeck/agui-core";
import { field } from "./schema-field.ts";
import { toSnakeCase } from "./snake-case.ts";

// Typed by the limits, so that a new one cannot be forgotten here.
const notes: Record<keyof Limits, string> = {
  bodyBytes: "Bytes of a request's JSON body.",
  bodiesBytes: "Bytes of all JSON bodies that are being received.",
  jsonDepth: "How deep a request's JSON may be nested.",
  jsonNodes: "Values in a request's JSON.",
  files: "Files with one message.",
  requestFiles: "Files in one request.",
  fileBytes: "Bytes of one uploaded file.",
  uploadBytes: "Bytes of all files of one request.",
  inlineFileBytes: "Bytes of a file inside JSON, decoded.",
  messages: "Messages in one request.",
  messageChars: "Characters of one message.",
  sessionBytes: "Bytes of one thread's messages and state.",
  maxSessions: "Threads that are kept.",
  maxConcurrentRuns: "Runs at the same time.",
  queuedRuns: "Runs that wait for their thread.",
  runTimeoutMs: "Milliseconds that a run may take.",
  toolTimeoutMs: "Milliseconds that a tool call may take.",
  authenticateMs: "Milliseconds that authentication may take.",
  eventBytes: "Bytes of one event.",
  followerBytes: "Bytes that a client may leave unread.",
  unsentBytes: "Bytes of large responses that all clients together may leave unread.",
  stallMs: "Milliseconds that a client may stop reading.",
  appendBytes: "Bytes that may wait for the session store.",
  appendMs: "Milliseconds that the session store may take.",
  runLogEvents: "Events kept of one run.",
  runLogBytes: "Bytes kept of one run.",
  runLogMs: "Milliseconds that a run is kept after its end.",
  logBytes: "Bytes kept of all runs.",
  memoryBytes: "Bytes of all threads and runs that are kept in memory.",
};

function toField(name: keyof Limits): z.ZodOptional<z.ZodNumber> {
  const value = defaultLimits[name];
  return field(z.number().positive(), {
    title: toSnakeCase(name).replaceAll("_", " "),
    description: `${notes[name]} By default ${Number.isFinite(value) ? value : "there is no bound"}.`,
    examples: [Number.isFinite(value) ? value : 100],
  }).optional();
}

const shape = Object.fromEntries(
  (Object.keys(notes) as (keyof Limits)[]).map((name) => [toSnakeCase(name), toField(name)]),
);

/** `limits` of an agent file: those of `createAgentHandler`, in its own spelling. */
export const limitsSchema: z.ZodType<Record<string, number | undefined>> = field(
  z.strictObject(shape),
  {
    title: "Limits",
    description: "Bounds that differ from the defaults.",
    examples: [{ run_timeout_ms: 60_000 }],
  },
);
