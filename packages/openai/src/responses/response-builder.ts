import { EventType } from "@holodeck/agui-core";
import type { BaseEvent, Json } from "@holodeck/agui-core";
import { AnswerReader } from "../shared/answer-reader.ts";
import type { AnswerEnd, AnswerListener, AskedQuestion } from "../shared/answer-reader.ts";
import { toQuestionCall } from "../shared/question-call.ts";
import { toItemId } from "./response-ids.ts";
import { noNote, noteIn } from "./response-note.ts";
import type { ResponseNote } from "./response-note.ts";
import { toResponse } from "./response-object.ts";

/** Receives the events of a response. */
export type EmitEvent = (type: string, fields: Json) => void;

/** An item that is not complete. */
export interface OpenItem {
  readonly kind: "text" | "reasoning" | "call";
  readonly id: string;
  readonly index: number;
  /** Its text, or the arguments of the call. */
  text: string;
}

type ItemStatus = "completed" | "incomplete";

/** Builds a response from the events of its run, and reports each step as the event that clients receive. */
export class ResponseBuilder implements AnswerListener {
  readonly #emit: EmitEvent;
  readonly #output: Json[] = [];
  /** By the ids of the run. */
  readonly #open = new Map<string, OpenItem>();
  #reader: AnswerReader | undefined;
  #note: ResponseNote = noNote;
  #hasNote = false;
  #createdAt = 0;
  #endedAt: number | undefined;
  #end: AnswerEnd | undefined;

  constructor(emit: EmitEvent = () => {}) {
    this.#emit = emit;
  }

  /** Undefined when the run was not started as a response. */
  get note(): ResponseNote | undefined {
    return this.#hasNote ? this.#note : undefined;
  }

  get output(): readonly Json[] {
    return this.#output;
  }

  read(event: BaseEvent, at: number): void {
    if (event.type === EventType.RUN_STARTED) {
      this.#createdAt = at;
      return;
    }
    if (!this.#reader) this.#begin(noteIn(event), at);
    if (event.type === EventType.RUN_FINISHED || event.type === EventType.RUN_ERROR) {
      this.#endedAt = at;
    }
    this.#reader!.read(event);
  }

  toJson(): Json {
    return toResponse({
      id: this.#note.id,
      createdAt: this.#createdAt,
      endedAt: this.#endedAt,
      // Its items are replaced and never changed.
      output: this.#output.slice(),
      end: this.#end,
      echo: this.#note.echo,
    });
  }

  /** The item that the text of a message goes to. Undefined when its first piece has not come. */
  openText(messageId: unknown): OpenItem | undefined {
    return this.#open.get(`text ${messageId as string}`);
  }

  #begin(note: ResponseNote | undefined, at: number): void {
    this.#hasNote = note !== undefined;
    this.#note = note ?? noNote;
    this.#createdAt ||= at;
    const { clientTools, serverTools } = this.#note;
    this.#reader = new AnswerReader({ clientTools: new Set(clientTools), serverTools }, this);
    const begun = { response: this.toJson() };
    this.#emit("response.created", begun);
    this.#emit("response.in_progress", begun);
  }

  // ── Text ─────────────────────────────────────────────────────────────────────────────────────

  text(id: string, delta: string): void {
    let item = this.#open.get(`text ${id}`);
    if (!item) {
      item = this.#add("text", id);
      this.#added(item, message(item.id, "in_progress", []));
      const part = { ...place(item), content_index: 0, part: textPart("") };
      this.#emit("response.content_part.added", part);
    }
    item.text += delta;
    this.#emit("response.output_text.delta", {
      ...place(item),
      content_index: 0,
      delta,
      logprobs: [],
    });
  }

  textEnd(id: string, status: ItemStatus = "completed"): void {
    const item = this.#take("text", id);
    if (!item) return;
    const { text } = item;
    const at = { ...place(item), content_index: 0 };
    this.#emit("response.output_text.done", { ...at, text, logprobs: [] });
    this.#emit("response.content_part.done", { ...at, part: textPart(text) });
    this.#done(item, message(item.id, status, [textPart(text)]));
  }

  // ── Reasoning ────────────────────────────────────────────────────────────────────────────────

  reasoning(id: string, delta: string): void {
    let item = this.#open.get(`reasoning ${id}`);
    if (!item) {
      item = this.#add("reasoning", id);
      this.#added(item, { type: "reasoning", id: item.id, summary: [] });
      const part = { ...place(item), summary_index: 0, part: summaryPart("") };
      this.#emit("response.reasoning_summary_part.added", part);
    }
    item.text += delta;
    const at = { ...place(item), summary_index: 0 };
    this.#emit("response.reasoning_summary_text.delta", { ...at, delta });
  }

  reasoningEnd(id: string): void {
    const item = this.#take("reasoning", id);
    if (!item) return;
    const { text } = item;
    const at = { ...place(item), summary_index: 0 };
    this.#emit("response.reasoning_summary_text.done", { ...at, text });
    this.#emit("response.reasoning_summary_part.done", { ...at, part: summaryPart(text) });
    this.#done(item, { type: "reasoning", id: item.id, summary: [summaryPart(text)] });
  }

  // ── Calls of client tools ────────────────────────────────────────────────────────────────────

  #names: Map<string, string> | undefined;

  call(id: string, name: string): void {
    (this.#names ??= new Map()).set(id, name);
    const item = this.#add("call", id);
    this.#added(item, this.#call(item, id, "in_progress"));
  }

  callArgs(id: string, delta: string): void {
    const item = this.#open.get(`call ${id}`);
    if (!item) return;
    item.text += delta;
    this.#emit("response.function_call_arguments.delta", { ...place(item), delta });
  }

  callEnd(id: string, status: ItemStatus = "completed"): void {
    const item = this.#take("call", id);
    if (!item) return;
    const done = { ...place(item), name: this.#names?.get(id) ?? "", arguments: item.text };
    this.#emit("response.function_call_arguments.done", done);
    this.#done(item, this.#call(item, id, status));
  }

  #call(item: OpenItem, callId: string, status: ItemStatus | "in_progress"): Json {
    return {
      type: "function_call",
      id: item.id,
      call_id: callId,
      name: this.#names?.get(callId) ?? "",
      arguments: item.text,
      status,
    };
  }

  // ── The end ──────────────────────────────────────────────────────────────────────────────────

  end(end: AnswerEnd): void {
    const isWhole = end.type === "finished" || end.type === "asked";
    for (const key of this.#open.keys()) this.#close(key, isWhole ? "completed" : "incomplete");
    if (end.type === "asked") for (const question of end.questions) this.#ask(question);
    this.#end = end;
    // Clients know no event for a response that was cancelled; its status is in the response.
    const type = isWhole ? "completed" : end.type === "failed" ? "failed" : "incomplete";
    this.#emit(`response.${type}`, { response: this.toJson() });
  }

  #close(key: string, status: ItemStatus): void {
    const at = key.indexOf(" ");
    const [kind, id] = [key.slice(0, at), key.slice(at + 1)];
    if (kind === "text") this.textEnd(id, status);
    else if (kind === "call") this.callEnd(id, status);
    else this.reasoningEnd(id);
  }

  #ask(question: AskedQuestion): void {
    if (question.isApproval && question.call && this.#note.approvals === "mcp") {
      const item = {
        type: "mcp_approval_request",
        id: `mcpr_${question.id}`,
        server_label: typeof this.#note.echo.model === "string" ? this.#note.echo.model : "",
        name: question.call.name,
        arguments: question.call.args || "{}",
      };
      const index = this.#output.push(item) - 1;
      this.#emit("response.output_item.added", { output_index: index, item });
      this.#emit("response.output_item.done", { output_index: index, item });
      return;
    }
    const { id, name, args } = toQuestionCall(question);
    this.call(id, name);
    this.callArgs(id, args);
    this.callEnd(id);
  }

  // ── Items ────────────────────────────────────────────────────────────────────────────────────

  #add(kind: OpenItem["kind"], id: string): OpenItem {
    const index = this.#output.length;
    const prefix = kind === "text" ? "msg" : kind === "call" ? "fc" : "rs";
    const item = { kind, id: toItemId(prefix, this.#note.id, index), index, text: "" };
    this.#open.set(`${kind} ${id}`, item);
    return item;
  }

  #take(kind: OpenItem["kind"], id: string): OpenItem | undefined {
    const key = `${kind} ${id}`;
    const item = this.#open.get(key);
    if (item) this.#open.delete(key);
    return item;
  }

  #added(item: OpenItem, shown: Json): void {
    this.#output.push(shown);
    this.#emit("response.output_item.added", { output_index: item.index, item: shown });
  }

  #done(item: OpenItem, shown: Json): void {
    this.#output[item.index] = shown;
    this.#emit("response.output_item.done", { output_index: item.index, item: shown });
  }
}

function place({ id, index }: OpenItem): { item_id: string; output_index: number } {
  return { item_id: id, output_index: index };
}

function message(id: string, status: ItemStatus | "in_progress", content: readonly Json[]): Json {
  return { type: "message", id, status, role: "assistant", content };
}

function textPart(text: string): Json {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function summaryPart(text: string): Json {
  return { type: "summary_text", text };
}
