import type { BaseEvent } from "@ag-ui/core";
import { formatCount } from "../shared/format.ts";
import { deltaOf } from "./entries.ts";
import type { Row } from "./rows.ts";

const maxChars = 240;

/** A row summarised in one line. */
export function summariseRow({ first, entries, chars }: Row): string {
  if (entries.length === 1) return summariseEvent(first.event);
  let text = "";
  for (const { event } of entries) {
    text += deltaOf(event) ?? "";
    if (text.length > maxChars) break;
  }
  return `${formatCount(chars, "char")} · ${oneLine(text)}`;
}

/** An event summarised in one line. */
export function summariseEvent(event: BaseEvent): string {
  const delta = deltaOf(event);
  const chunk = delta === undefined ? "" : oneLine(delta);
  return chunk || oneLine(describe(event));
}

type Loose = { readonly type: string } & Readonly<Record<string, unknown>>;

function describe(event: Loose): string {
  switch (event.type) {
    case "RUN_STARTED":
      return join(event.threadId && `thread ${text(event.threadId)}`);
    case "RUN_FINISHED":
      return join(outcome(event.outcome), usage(event.usage));
    case "RUN_ERROR":
    case "SUBAGENT_ERROR":
      return join(event.code, event.message);
    case "STEP_STARTED":
    case "STEP_FINISHED":
      return text(event.stepName);
    case "TOOL_CALL_START":
    case "TOOL_CALL_CHUNK":
      return text(event.toolCallName);
    case "TOOL_CALL_RESULT":
      return text(event.content);
    case "STATE_SNAPSHOT":
      return keys(event.snapshot);
    case "STATE_DELTA":
      return pointers(event.delta);
    case "MESSAGES_SNAPSHOT":
      return Array.isArray(event.messages) ? formatCount(event.messages.length, "message") : "";
    case "ACTIVITY_SNAPSHOT":
      return join(event.activityType, keys(event.content));
    case "ACTIVITY_DELTA":
      return join(event.activityType, pointers(event.patch));
    case "CUSTOM":
      return join(event.name, event.value);
    case "RAW":
      return join(event.source, event.event);
    default:
      return join(event.role ?? event.name ?? event.toolCallId ?? event.messageId);
  }
}

function outcome(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { type, interrupts } = value as { type?: unknown; interrupts?: unknown };
  return Array.isArray(interrupts) && interrupts.length > 0
    ? `${text(type)} (${interrupts.length})`
    : type;
}

function usage(value: unknown): string | undefined {
  const total = outputTokens(value);
  return total === undefined ? undefined : formatCount(total, "token");
}

/** The output tokens in a run's usage, if it has them. */
export function outputTokens(usage: unknown): number | undefined {
  let total: number | undefined;
  for (const entry of Array.isArray(usage) ? usage : []) {
    const { outputTokens } = (entry ?? {}) as { outputTokens?: unknown };
    if (typeof outputTokens === "number") total = (total ?? 0) + outputTokens;
  }
  return total;
}

function pointers(patch: unknown): string {
  if (!Array.isArray(patch)) return "";
  return patch
    .map((operation: unknown) => {
      const { op, path } = (operation ?? {}) as { op?: unknown; path?: unknown };
      return `${text(op)} ${text(path) || "(all)"}`;
    })
    .join(", ");
}

function keys(value: unknown): string {
  if (typeof value !== "object" || value === null) return text(value);
  return Array.isArray(value)
    ? formatCount(value.length, "item")
    : Object.keys(value).slice(0, 20).join(", ");
}

function join(...parts: readonly unknown[]): string {
  return parts.map(text).filter(Boolean).join(" · ");
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined ? "" : JSON.stringify(value).slice(0, maxChars);
}

function oneLine(value: string): string {
  const line = value.slice(0, maxChars + 1).replaceAll(/\r\n|\r|\n/g, "↵");
  return line.length > maxChars ? `${line.slice(0, maxChars)}…` : line;
}
