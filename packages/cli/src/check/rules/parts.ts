import { EventType } from "@ag-ui/core";
import type { CheckId } from "../report/catalogue.ts";
import { toShownText } from "../types.ts";
import type { ReadEvent, CheckReport, WireEvent } from "../types.ts";

type Kind = "text" | "call" | "span" | "thought" | "step" | "subagent";

interface Move {
  readonly kind: Kind;
  readonly move: "open" | "go on" | "close";
}

const checks: Readonly<Record<Kind, CheckId>> = {
  text: "text",
  call: "tool-calls",
  span: "reasoning",
  thought: "reasoning",
  step: "steps",
  subagent: "subagents",
};

const names: Readonly<Record<Kind, string>> = {
  text: "message",
  call: "tool call",
  span: "reasoning",
  thought: "reasoning message",
  step: "step",
  subagent: "subagent",
};

const idFields: Readonly<Record<Kind, string>> = {
  text: "messageId",
  call: "toolCallId",
  span: "messageId",
  thought: "messageId",
  step: "stepName",
  subagent: "subagentRunId",
};

const moves: Readonly<Record<string, Move>> = {
  [EventType.TEXT_MESSAGE_START]: { kind: "text", move: "open" },
  [EventType.TEXT_MESSAGE_CONTENT]: { kind: "text", move: "go on" },
  [EventType.TEXT_MESSAGE_END]: { kind: "text", move: "close" },
  [EventType.TOOL_CALL_START]: { kind: "call", move: "open" },
  [EventType.TOOL_CALL_ARGS]: { kind: "call", move: "go on" },
  [EventType.TOOL_CALL_END]: { kind: "call", move: "close" },
  [EventType.REASONING_START]: { kind: "span", move: "open" },
  [EventType.REASONING_END]: { kind: "span", move: "close" },
  [EventType.REASONING_MESSAGE_START]: { kind: "thought", move: "open" },
  [EventType.REASONING_MESSAGE_CONTENT]: { kind: "thought", move: "go on" },
  [EventType.REASONING_MESSAGE_END]: { kind: "thought", move: "close" },
  [EventType.STEP_STARTED]: { kind: "step", move: "open" },
  [EventType.STEP_FINISHED]: { kind: "step", move: "close" },
  [EventType.SUBAGENT_STARTED]: { kind: "subagent", move: "open" },
  [EventType.SUBAGENT_FINISHED]: { kind: "subagent", move: "close" },
  [EventType.SUBAGENT_ERROR]: { kind: "subagent", move: "close" },
};

export interface Parts {
  take(read: ReadEvent): void;
  /** An open part of another kind of bracket, for the chunks. */
  isOpen(kind: "text" | "call" | "thought", id: string): boolean;
}

/** Tracks what is opened, continued and closed in a run, and its owner. */
export function createParts(report: CheckReport): Parts {
  // Each open part with the subagent that opened it.
  const open = new Map<string, { kind: Kind; id: string; owner: unknown }>();
  const closedSubagents = new Set<string>();

  function take(read: ReadEvent): void {
    const { event, line } = read;
    if (event.type === EventType.RUN_STARTED || event.type === EventType.RUN_ERROR) return clear();
    if (event.type === EventType.RUN_FINISHED) {
      for (const { kind, id } of open.values()) {
        report.break(checks[kind], `The ${names[kind]} "${id}" is still open at ${line}`);
      }
      return clear();
    }
    const found = moves[event.type];
    if (!found) return;
    const { kind } = found;
    report.show(checks[kind]);
    if (kind !== "subagent" && event["subagentRunId"] !== undefined) report.show("subagents");
    if (found.move === "open") start(kind, read);
    else proceed(found, read);
  }

  function clear(): void {
    open.clear();
    closedSubagents.clear();
  }

  function start(kind: Kind, { event, line }: ReadEvent): void {
    const key = keyOf(kind, event);
    const id = idOf(kind, event);
    const again = kind === "subagent" && closedSubagents.has(id);
    if (open.has(key) || again) {
      const state = again ? "was ended before" : "is open already";
      return report.break(checks[kind], `The ${names[kind]} "${id}" ${state}: ${line}`);
    }
    open.set(key, { kind, id, owner: event["subagentRunId"] });
  }

  function proceed({ kind, move }: Move, { event, line }: ReadEvent): void {
    const key = keyOf(kind, event);
    const part = open.get(key);
    const id = idOf(kind, event);
    if (!part) {
      const isElsewhere = kind === "step" && isOpenElsewhere(id);
      if (isElsewhere)
        report.break("subagents", `The step "${id}" belongs to another owner: ${line}`);
      else report.break(checks[kind], `No ${names[kind]} "${id}" is open: ${line}`);
      return;
    }
    const tag = event["subagentRunId"];
    if (kind !== "subagent" && tag !== undefined && tag !== part.owner) {
      report.break("subagents", `The ${names[kind]} "${id}" belongs to another owner: ${line}`);
    }
    if (move !== "close") return;
    open.delete(key);
    if (kind === "subagent") closedSubagents.add(id);
  }

  function isOpenElsewhere(name: string): boolean {
    return [...open.values()].some(({ kind, id }) => kind === "step" && id === name);
  }

  return {
    take,
    isOpen: (kind, id) => open.has(`${kind} ${id}`),
  };
}

function idOf(kind: Kind, event: WireEvent): string {
  return toShownText(event[idFields[kind]]);
}

// A step belongs to its owner: two subagents may have one of the same name.
function keyOf(kind: Kind, event: WireEvent): string {
  const owner = kind === "step" ? ` of ${toShownText(event["subagentRunId"] ?? "")}` : "";
  return `${kind} ${idOf(kind, event)}${owner}`;
}
