import { EventType, omitOptionalNulls } from "@ag-ui/core";
import { EventSchema, MessageSchema } from "@ag-ui/core/schemas";
import type { Frame } from "./read-frames.ts";
import { isRecord } from "@holodeck/agui-core/internal";
import type { ReadEvent, CheckReport, WireEvent } from "../types.ts";

const known: ReadonlySet<string> = new Set(Object.values(EventType));
// Up to 0.0.59; reasoning by another name.
const retired: ReadonlySet<string> = new Set(
  ["START", "END", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"].map(
    (name) => `THINKING_${name}`,
  ),
);
// 1973 and 5138: seconds, microseconds and uptimes fall outside.
const earliest = 1e11;
const latest = 1e14;

export interface EventReader {
  /** The event of a frame; undefined when there is none that could be used. */
  read(frame: Frame): ReadEvent | undefined;
  /** An event of a known type could not be read. */
  readonly isGarbled: boolean;
  /** The version in RUN_STARTED; undefined for a server of 0.0.x. */
  readonly version: string | undefined;
}

/** Reads the events of one stream and reports those that are none. */
export function createEventReader(report: CheckReport): EventReader {
  let isGarbled = false;
  let version: string | undefined;
  for (const id of ["json", "known-types", "camel-case", "fields"] as const) report.show(id);

  function parse({ data, line }: Frame): WireEvent | undefined {
    try {
      const value: unknown = JSON.parse(data);
      if (isRecord(value) && typeof value["type"] === "string") return value as WireEvent;
    } catch {
      // Reported below: whatever came is not an event.
    }
    isGarbled = true;
    report.break("json", line);
  }

  function checkFields(event: WireEvent, line: string): WireEvent | undefined {
    // 0.0.x wrote null for what was not there.
    const plain = version === undefined ? omitOptionalNulls(event as never, "Event") : event;
    const { messages, ...rest } = plain;
    const isSnapshot = event.type === EventType.MESSAGES_SNAPSHOT && Array.isArray(messages);
    const { error } = EventSchema.safeParse(isSnapshot ? { ...rest, messages: [] } : plain);
    if (error) {
      isGarbled = true;
      const [issue] = error.issues;
      report.break("fields", `${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""} in ${line}`);
      return undefined;
    }
    if (isSnapshot) checkMessages(messages, report);
    return plain;
  }

  return {
    read(frame) {
      const { line } = frame;
      const parsed = parse(frame);
      if (!parsed) return undefined;
      if (retired.has(parsed.type) && version === undefined) return undefined;
      if (!known.has(parsed.type)) {
        report.break("known-types", line);
        return undefined;
      }
      const spelled = toCamel(parsed);
      if (spelled !== parsed) report.break("camel-case", line);
      const timed = withoutTimestamp(spelled, line, report);
      if (timed.type === EventType.RUN_STARTED && typeof timed["protocolVersion"] === "string") {
        version = timed["protocolVersion"];
      }
      const event = checkFields(timed, line);
      return event && { event, line };
    },
    get isGarbled() {
      return isGarbled;
    },
    get version() {
      return version;
    },
  };
}

function withoutTimestamp(event: WireEvent, line: string, report: CheckReport): WireEvent {
  const { timestamp, ...rest } = event;
  if (timestamp === undefined || timestamp === null) return event;
  report.show("timestamps");
  const isSane = Number.isInteger(timestamp) && isBetween(timestamp as number);
  if (!isSane) report.break("timestamps", `timestamp ${JSON.stringify(timestamp)} in ${line}`);
  return rest;
}

function isBetween(time: number): boolean {
  return time > earliest && time < latest;
}

// Envelope keys only: those of state, arguments and content are the agent's.
function toCamel(event: WireEvent): WireEvent {
  const keys = Object.keys(event).filter((key) => /^[a-z]+(?:_[a-z]+)+$/.test(key));
  if (keys.length === 0) return event;
  const entries = Object.entries(event).map(([key, value]) => [
    keys.includes(key) ? key.replaceAll(/_([a-z])/g, (_, c: string) => c.toUpperCase()) : key,
    value,
  ]);
  return Object.fromEntries(entries) as WireEvent;
}

function checkMessages(messages: readonly unknown[], report: CheckReport): void {
  report.show("messages");
  const ids = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const { error } = MessageSchema.safeParse(message);
    const [issue] = error?.issues ?? [];
    if (issue) {
      const path = ["messages", index, ...issue.path].join(".");
      report.break("messages", `${path}: ${issue.message} in ${JSON.stringify(message)}`);
      continue;
    }
    const { id } = message as { id: string };
    if (ids.has(id)) report.break("messages", `Two messages with the id ${JSON.stringify(id)}.`);
    ids.add(id);
  }
}
