import { EventType } from "@ag-ui/core";
import type { LooseEvent } from "./guard-events.ts";
import { named, withTag } from "./guard-parts.ts";
import type { Owner, Parts } from "./guard-parts.ts";
import type { Repair } from "./guard-repairs.ts";
import { ulid } from "./ids.ts";

/** Text without events and the three CHUNK kinds, made into start, content and end. */
export interface Chunks {
  /** A chunk. False: it lacks what it would need to start something. */
  push(event: LooseEvent): boolean;
  /** Ends what another event brings to its end. */
  before(event: LooseEvent): void;
  /** What a bare chunk of this lane would continue. */
  streamOf(lane: Owner): Pick<Stream, "kind" | "id"> | undefined;
  /** True while a stream of chunks with an id is open: any event may end it. */
  isFragile(): boolean;
}

interface Stream {
  readonly kind: "text" | "reasoning" | "tool";
  readonly id: string;
  /** Its id is ours, so the agent did not have one message in mind and asides do not end it. */
  readonly implicit: boolean;
  readonly spanned: boolean;
  /** The first chunk, which later ones must not contradict. */
  readonly opener: LooseEvent;
}

interface ChunkKind {
  readonly kind: Stream["kind"];
  readonly key: "messageId" | "toolCallId";
  readonly start: EventType;
  readonly content: EventType;
  /** What belongs to the start alone. */
  readonly own: readonly string[];
}

const chunkKinds: Readonly<Record<string, ChunkKind>> = {
  [EventType.TEXT_MESSAGE_CHUNK]: {
    kind: "text",
    key: "messageId",
    start: EventType.TEXT_MESSAGE_START,
    content: EventType.TEXT_MESSAGE_CONTENT,
    own: ["role", "name"],
  },
  [EventType.REASONING_MESSAGE_CHUNK]: {
    kind: "reasoning",
    key: "messageId",
    start: EventType.REASONING_MESSAGE_START,
    content: EventType.REASONING_MESSAGE_CONTENT,
    own: [],
  },
  [EventType.TOOL_CALL_CHUNK]: {
    kind: "tool",
    key: "toolCallId",
    start: EventType.TOOL_CALL_START,
    content: EventType.TOOL_CALL_ARGS,
    own: ["toolCallName", "parentMessageId"],
  },
};

// The official client lets these pass between two chunks of one message.
const asides: ReadonlySet<EventType> = new Set([
  EventType.RAW,
  EventType.ACTIVITY_SNAPSHOT,
  EventType.ACTIVITY_DELTA,
  EventType.REASONING_ENCRYPTED_VALUE,
]);

// Ours for text without an id: only what begins something else ends it.
const boundaries: ReadonlySet<EventType> = new Set([
  EventType.TEXT_MESSAGE_START,
  EventType.REASONING_START,
  EventType.REASONING_MESSAGE_START,
  EventType.REASONING_MESSAGE_CONTENT,
  EventType.REASONING_MESSAGE_END,
  EventType.REASONING_END,
  EventType.TOOL_CALL_START,
  EventType.TOOL_CALL_RESULT,
  EventType.STEP_STARTED,
  EventType.STEP_FINISHED,
  EventType.SUBAGENT_STARTED,
  EventType.SUBAGENT_FINISHED,
  EventType.SUBAGENT_ERROR,
]);

/** One stream of chunks at a time for the agent and for each of its subagents. */
export function createChunks(
  parts: Parts,
  send: (event: LooseEvent) => void,
  repair: Repair,
): Chunks {
  const streams = new Map<Owner, Stream>();

  function current(lane: Owner): Stream | undefined {
    const stream = streams.get(lane);
    // The agent may have ended it by name.
    return stream && parts.isOpen(stream.kind, stream.id) ? stream : undefined;
  }

  function close(lane: Owner): void {
    const stream = streams.get(lane);
    if (!stream) return;
    streams.delete(lane);
    parts.close(stream.kind, stream.id);
    if (stream.spanned) parts.close("span", stream.id);
  }

  function laneOf({ kind, key }: ChunkKind, event: LooseEvent): Owner {
    const id = event[key];
    const tag = event.subagentRunId;
    if (id === undefined) return tag;
    for (const [lane, stream] of streams) {
      if (stream.kind === kind && stream.id === id && current(lane)) {
        if (tag !== undefined && tag !== lane) repair("wrong-owner");
        return lane;
      }
    }
    if (tag === undefined || !parts.hasOwner(kind, id) || parts.ownerOf(kind, id) === tag) {
      return tag;
    }
    repair("wrong-owner");
    return parts.ownerOf(kind, id);
  }

  function contradicts(stream: Stream, event: LooseEvent, { own }: ChunkKind): boolean {
    return own.some((field) => {
      const fallback = field === "role" ? "assistant" : undefined;
      return event[field] !== undefined && event[field] !== (stream.opener[field] ?? fallback);
    });
  }

  function push(event: LooseEvent): boolean {
    const chunk = chunkKinds[event.type]!;
    const { kind, key } = chunk;
    const id = event[key];
    const lane = laneOf(chunk, event);
    const stream = current(lane);
    if (stream?.kind === kind && (id === undefined || id === stream.id)) {
      const conflict = contradicts(stream, event, chunk);
      // Without an id, another name or role means another message.
      const isOther = id === undefined && (kind !== "tool" || event.toolCallName !== undefined);
      if (!conflict || !isOther) {
        if (conflict) repair("chunk-conflict");
        if (hasText(event) || hasExtras(event)) say(chunk, event, stream.id);
        return true;
      }
    }
    if (kind !== "tool" && id === undefined && !hasText(event)) return true;
    if (kind === "tool" && event.toolCallName === undefined) {
      const toolCallName = id === undefined ? undefined : parts.callName(id);
      if (toolCallName === undefined) return false;
      repair("reopened");
      return push({ ...event, toolCallName });
    }
    if (id !== undefined && parts.isOpen(kind, id)) {
      // Opened by a start of its own: it is one message all the same.
      repair("duplicate-start");
      close(lane);
      if (hasText(event) || hasExtras(event)) say(chunk, event, id);
      return true;
    }
    close(lane);
    const streamId = id ?? ulid();
    open(chunk, withTag(event, lane), streamId);
    // The start carries the metadata already.
    if (hasText(event) || event.rawEvent !== undefined) say(chunk, event, streamId);
    return true;
  }

  function open({ kind, key, start, own }: ChunkKind, event: LooseEvent, id: string): void {
    const lane = event.subagentRunId;
    const implicit = event[key] === undefined;
    const opener = withTag(named(start, key, id), lane);
    for (const field of own) if (event[field] !== undefined) opener[field] = event[field];
    for (const field of ["timestamp", "metadata"]) {
      if (event[field] !== undefined) opener[field] = event[field];
    }
    if (kind === "text") opener.role ??= "assistant";
    if (kind === "reasoning") opener.role = "reasoning";
    const spanned = kind === "reasoning" && !parts.isReasoning(lane) && !parts.isOpen("span", id);
    if (spanned) {
      parts.start("span", withTag({ type: EventType.REASONING_START, messageId: id }, lane), true);
    }
    streams.set(lane, { kind, id, implicit, spanned, opener: event });
    parts.start(kind, opener, true);
  }

  function say({ kind, key, content, own }: ChunkKind, event: LooseEvent, id: string): void {
    const whole = named(content, key, id);
    whole.delta = event.delta ?? "";
    const owner = parts.ownerOf(kind, id);
    if (owner !== undefined) whole.subagentRunId = owner;
    for (const field in event) {
      if (whole[field] === undefined && field !== "subagentRunId" && !own.includes(field)) {
        whole[field] = event[field];
      }
    }
    send(whole);
  }

  return {
    push,
    streamOf: current,
    before(event) {
      if (streams.size === 0) return;
      if (event.type === EventType.MESSAGES_SNAPSHOT) {
        for (const lane of streams.keys()) close(lane);
        return;
      }
      const lane = event.subagentRunId;
      const stream = streams.get(lane);
      if (!stream) return;
      const ends = stream.implicit
        ? boundaries.has(event.type)
        : !asides.has(event.type) && event.type !== EventType.SUBAGENT_STARTED;
      if (ends) close(lane);
    },
    isFragile() {
      for (const stream of streams.values()) if (!stream.implicit) return true;
      return false;
    },
  };
}

function hasText({ delta }: LooseEvent): boolean {
  return delta !== undefined && delta !== "";
}

function hasExtras({ metadata, rawEvent }: LooseEvent): boolean {
  return metadata !== undefined || rawEvent !== undefined;
}
