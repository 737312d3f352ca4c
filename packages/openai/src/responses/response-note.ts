import { EventType } from "@holodeck/agui-core";
import { isRecord } from "@holodeck/agui-core/internal";
import type { BaseEvent, Json } from "@holodeck/agui-core";
import type { ServerToolDisplay } from "../shared/answer-reader.ts";

/** How approvals are asked for: as items of MCP, or as calls of a function, for clients that know only those. */
export type ApprovalDisplay = "mcp" | "function";

/**
 * What a response has of its request. It is the first event of the log, so that every process of the store can show
 * the response, and so that its stream is a function of the log.
 */
export interface ResponseNote {
  /** The id of the response. */
  readonly id: string;
  /** The members of the response that repeat the request. */
  readonly echo: Json;
  readonly clientTools: readonly string[];
  readonly serverTools: ServerToolDisplay;
  readonly approvals: ApprovalDisplay;
  /** Ids of the messages that the request brought. */
  readonly input: readonly string[];
}

const name = "openai.response";

export function toNoteEvent(note: ResponseNote): BaseEvent {
  return { type: EventType.CUSTOM, name, value: note };
}

/** The note in an event. Undefined for any other event. */
export function noteIn({ type, name: named, value }: BaseEvent): ResponseNote | undefined {
  if (type !== EventType.CUSTOM || named !== name || !isRecord(value)) return undefined;
  return value as unknown as ResponseNote;
}

/** Of a run that another protocol has started. */
export const noNote: ResponseNote = {
  id: "",
  echo: {},
  clientTools: [],
  serverTools: "reasoning",
  approvals: "mcp",
  input: [],
};
