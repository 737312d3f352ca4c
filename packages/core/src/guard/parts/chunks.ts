import { EventType } from "@ag-ui/core";
import type { EventSink, LooseEvent } from "../shapes.ts";
import { asides, boundaries, chunkKinds } from "./chunk-kinds.ts";
import type { ChunkKind } from "./chunk-kinds.ts";
import type { Owner } from "./known.ts";
import { withTag } from "./owners.ts";
import type { PartRepairs } from "./parts.ts";
import { ulid } from "../../base/ids.ts";
import type { Json } from "../../contract/agent.ts";

interface Stream {
  readonly lane: Owner;
  readonly kind: ChunkKind["kind"];
  readonly id: string;
  /** Its id is ours, so the agent did not have one message in mind and asides do not end it. */
  readonly implicit: boolean;
  readonly spanned: boolean;
  /** The first chunk, which later ones must not contradict. */
  readonly opener: Json;
}

const startExtras = ["timestamp", "metadata"] as const;

const none: readonly Stream[] = [];

// Instead of a first chunk that has nothing but text, which would be retained with it.
const bare: Json = {};

/**
 * Text without events and the three CHUNK kinds, made into start, content and end. One stream of
 * chunks at a time for the agent and for each of its subagents.
 */
export class Chunks {
  readonly #exit: EventSink;
  readonly #parts: PartRepairs;
  // A new list for each change: there is seldom more than one stream.
  #streams = none;

  constructor(exit: EventSink, parts: PartRepairs) {
    this.#exit = exit;
    this.#parts = parts;
  }

  /** A chunk. False: it lacks what it would need to start something. */
  push(event: LooseEvent): boolean {
    const chunk = chunkKinds[event.type]!;
    const { kind, key } = chunk;
    const id = event[key];
    const lane = this.#laneOf(chunk, event);
    const stream = this.streamOf(lane);
    if (stream?.kind === kind && (id === undefined || id === stream.id)) {
      const conflict = contradicts(stream, event, chunk);
      // Without an id, another name or role means another message.
      const isOther = id === undefined && (kind !== "tool" || event.toolCallName !== undefined);
      if (!conflict || !isOther) {
        if (conflict) this.#exit.repair("chunk-conflict");
        if (hasText(event) || hasExtras(event)) this.#append(chunk, event, stream.id);
        return true;
      }
    }
    if (kind !== "tool" && id === undefined && !hasText(event)) return true;
    if (kind === "tool" && event.toolCallName === undefined) {
      const toolCallName = id === undefined ? undefined : this.#parts.callName(id);
      if (toolCallName === undefined) return false;
      this.#exit.repair("reopened");
      return this.push({ ...event, toolCallName });
    }
    if (id !== undefined && this.#parts.isOpen(kind, id)) {
      // Opened by a START event: it is one message all the same.
      this.#exit.repair("duplicate-start");
      this.#close(lane);
      if (hasText(event) || hasExtras(event)) this.#append(chunk, event, id);
      return true;
    }
    this.#close(lane);
    const streamId = id ?? ulid();
    this.#open(chunk, withTag(event, lane), streamId);
    // The start carries the metadata already.
    if (hasText(event) || event.rawEvent !== undefined) this.#append(chunk, event, streamId);
    return true;
  }

  /** Ends what another event brings to its end. */
  before(event: LooseEvent): void {
    if (this.#streams.length === 0) return;
    if (event.type === EventType.MESSAGES_SNAPSHOT) {
      // A listener of an end may begin another stream, which the snapshot ends too.
      while (this.#streams.length > 0) this.#close(this.#streams[0]!.lane);
      return;
    }
    const stream = this.#find(event.subagentRunId);
    if (!stream) return;
    const ends = stream.implicit
      ? boundaries.has(event.type)
      : !asides.has(event.type) && event.type !== EventType.SUBAGENT_STARTED;
    if (ends) this.#close(stream.lane);
  }

  /** What a bare chunk of this lane would continue. */
  streamOf(lane: Owner): Stream | undefined {
    const stream = this.#find(lane);
    // The agent may have ended it by name.
    return stream && this.#parts.isOpen(stream.kind, stream.id) ? stream : undefined;
  }

  hasStream(lane: Owner): boolean {
    return this.#find(lane) !== undefined;
  }

  /** True while a stream of chunks with an id is open: any event may end it. */
  isFragile(): boolean {
    for (const stream of this.#streams) if (!stream.implicit) return true;
    return false;
  }

  #find(lane: Owner): Stream | undefined {
    const streams = this.#streams;
    for (let at = 0; at < streams.length; at++) if (streams[at]!.lane === lane) return streams[at];
    return undefined;
  }

  #forget(lane: Owner): void {
    if (this.#streams.length === 0) return;
    const rest = this.#streams.filter((stream) => stream.lane !== lane);
    this.#streams = rest.length === 0 ? none : rest;
  }

  #close(lane: Owner): void {
    const stream = this.#find(lane);
    if (!stream) return;
    this.#forget(lane);
    this.#parts.close(stream.kind, stream.id);
    if (stream.spanned) this.#parts.close("span", stream.id);
  }

  #laneOf({ kind, key }: ChunkKind, event: LooseEvent): Owner {
    const id = event[key];
    const tag = event.subagentRunId;
    if (id === undefined) return tag;
    for (const { lane, kind: streamKind, id: streamId } of this.#streams) {
      if (streamKind !== kind || streamId !== id || !this.#parts.isOpen(kind, id)) continue;
      if (tag !== undefined && tag !== lane) this.#exit.repair("wrong-owner");
      return lane;
    }
    if (!this.#parts.hasOwner(kind, id)) return tag;
    const owner = this.#parts.ownerOf(kind, id);
    if (tag !== undefined && owner !== tag) this.#exit.repair("wrong-owner");
    return owner;
  }

  #open(chunk: ChunkKind, event: LooseEvent, id: string): void {
    const { kind, key, own } = chunk;
    const lane = event.subagentRunId;
    const implicit = event[key] === undefined;
    const spanned =
      kind === "reasoning" && !this.#parts.isReasoning(lane) && !this.#parts.isOpen("span", id);
    if (spanned) {
      const span: LooseEvent = { type: EventType.REASONING_START, messageId: id };
      this.#parts.start("span", withTag(span, lane), true);
    }
    this.#forget(lane);
    const opener = own.some((field) => event[field] !== undefined) ? event : bare;
    // `concat` leaves compiled code, and takes four times as long.
    this.#streams = [...this.#streams, { lane, kind, id, implicit, spanned, opener }];
    this.#parts.start(kind, toStart(chunk, event, id), true);
  }

  #append({ kind, key, content, own }: ChunkKind, event: LooseEvent, id: string): void {
    const delta = event.delta ?? "";
    const whole: LooseEvent =
      key === "messageId"
        ? { type: content, messageId: id, delta }
        : { type: content, toolCallId: id, delta };
    const owner = this.#parts.ownerOf(kind, id);
    if (owner !== undefined) whole.subagentRunId = owner;
    for (const field in event) {
      if (whole[field] === undefined && field !== "subagentRunId" && !own.includes(field)) {
        whole[field] = event[field];
      }
    }
    this.#exit.send(whole);
  }
}

// All fields from the start, as a server keeps many of these: a field that is added later needs a second store.
function toStart({ kind, start: type, own }: ChunkKind, event: LooseEvent, id: string): LooseEvent {
  const role = kind === "text" ? (event.role ?? "assistant") : "reasoning";
  const start: LooseEvent =
    kind === "tool"
      ? { type, toolCallId: id, toolCallName: event.toolCallName! }
      : { type, messageId: id, role };
  copyFields(event, start, own);
  copyFields(event, start, startExtras);
  return withTag(start, event.subagentRunId);
}

function copyFields(from: LooseEvent, to: LooseEvent, fields: readonly string[]): void {
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at]!;
    if (from[field] !== undefined) to[field] = from[field];
  }
}

function contradicts(stream: Stream, event: LooseEvent, { own }: ChunkKind): boolean {
  for (const field of own) {
    const fallback = field === "role" ? "assistant" : undefined;
    if (event[field] !== undefined && event[field] !== (stream.opener[field] ?? fallback)) {
      return true;
    }
  }
  return false;
}

function hasText({ delta }: LooseEvent): boolean {
  return delta !== undefined && delta !== "";
}

function hasExtras({ metadata, rawEvent }: LooseEvent): boolean {
  return metadata !== undefined || rawEvent !== undefined;
}
