import { aggregateTokenUsage, EventType } from "@ag-ui/core";
import type { Interrupt, TokenUsage } from "@ag-ui/core";
import type { LooseEvent } from "./guard-events.ts";
import { notJson, toJson } from "./guard-json.ts";
import { interrupts as checkInterrupts, usage as checkUsage } from "./guard-payloads.ts";
import type { Repair } from "./guard-repairs.ts";
import type { Json } from "./types.ts";

/** What the author gathered for the end of the run; read when the guard writes RUN_FINISHED. */
export interface RunEnding {
  interrupts: Interrupt[];
  usage: TokenUsage[];
  result?: unknown;
}

/** The terminal events of a run. */
export interface Terminals {
  /** The agent's own RUN_FINISHED, with what it did not say itself. */
  adopt(event: LooseEvent): LooseEvent;
  finished(pendingToolCallIds: readonly string[]): LooseEvent;
  cancelled(): LooseEvent;
  failed(error: { message: string; code: string }): LooseEvent;
}

/** The ids of the run the terminal events belong to. */
export interface RunIds {
  readonly threadId: string;
  readonly runId: string;
}

/** Writes terminal events from what the author gathered. */
export function createTerminals(ids: RunIds, ending: RunEnding, repair: Repair): Terminals {
  function interrupt(): Json {
    if (ending.interrupts.length === 0) return {};
    const interrupts = checkInterrupts(ending.interrupts, repair);
    return Array.isArray(interrupts) ? { outcome: { type: "interrupt", interrupts } } : {};
  }

  function usage(): Json {
    if (ending.usage.length === 0) return {};
    const entries = checkUsage(ending.usage, repair);
    if (!Array.isArray(entries) || entries.length === 0) return {};
    // Labels that no entry had come back as undefined.
    return toPlain({ usage: aggregateTokenUsage(entries) });
  }

  function result(): Json {
    if (ending.result === undefined || ending.result === null) return {};
    const value = toJson(ending.result);
    if (value === notJson) repair("not-json");
    return value === notJson || value === null ? {} : { result: value };
  }

  return {
    adopt(event) {
      const own = withRunIds(event, ids, repair);
      const more = {
        ...(own.outcome === undefined ? interrupt() : {}),
        ...(own.usage === undefined ? usage() : {}),
      };
      return Object.keys(more).length === 0 ? own : { ...own, ...more };
    },
    finished(pendingToolCallIds) {
      const pending =
        pendingToolCallIds.length > 0 ? { outcome: { type: "success", pendingToolCallIds } } : {};
      return {
        type: EventType.RUN_FINISHED,
        ...ids,
        ...result(),
        ...pending,
        ...interrupt(),
        ...usage(),
      };
    },
    cancelled() {
      return {
        type: EventType.RUN_FINISHED,
        ...ids,
        outcome: { type: "cancelled" },
        ...usage(),
      };
    },
    failed({ message, code }) {
      return { type: EventType.RUN_ERROR, message, code, ...usage() };
    },
  };
}

/** The event under the ids of this run, on a copy unless it has them. */
export function withRunIds(event: LooseEvent, ids: RunIds, repair: Repair): LooseEvent {
  const { threadId = ids.threadId, runId = ids.runId } = event;
  if (threadId !== ids.threadId || runId !== ids.runId) repair("run-ids");
  else if (event.threadId !== undefined && event.runId !== undefined) return event;
  return { ...event, ...ids };
}

function toPlain(value: Json): Json {
  const plain: Json = JSON.parse(JSON.stringify(value));
  return plain;
}
