import type { BaseEvent } from "@holodeck/agui-core";
import * as fc from "fast-check";

interface Kind {
  readonly start: string;
  readonly delta: string;
  readonly end: string;
  readonly id: string;
  readonly more: object;
}

const kinds: readonly Kind[] = [
  {
    start: "TEXT_MESSAGE_START",
    delta: "TEXT_MESSAGE_CONTENT",
    end: "TEXT_MESSAGE_END",
    id: "messageId",
    more: { role: "assistant" },
  },
  {
    start: "REASONING_MESSAGE_START",
    delta: "REASONING_MESSAGE_CONTENT",
    end: "REASONING_MESSAGE_END",
    id: "messageId",
    more: { role: "reasoning" },
  },
  {
    start: "TOOL_CALL_START",
    delta: "TOOL_CALL_ARGS",
    end: "TOOL_CALL_END",
    id: "toolCallId",
    more: { toolCallName: "look" },
  },
];

interface Move {
  readonly slot: number;
  readonly action: string;
  readonly piece: string;
}

/** Pieces of words, of a secret (`key-123`) and of JSON, so that a secret is often cut in two. */
const piece = fc.oneof(
  fc.constantFrom(
    "k",
    "ke",
    "key",
    "key-",
    "key-1",
    "-",
    "-12",
    "1",
    "23",
    "4",
    " ",
    "a",
    "{",
    '"',
  ),
  fc.string({ maxLength: 3 }),
);

/** A valid run of interleaved messages, thoughts and calls, each in pieces. */
export const randomRun: fc.Arbitrary<BaseEvent[]> = fc
  .record({
    moves: fc.array(
      fc.record<Move>({
        slot: fc.nat(5),
        action: fc.constantFrom(
          "say",
          "say",
          "say",
          "say",
          "say",
          "end",
          "custom",
          "marked",
          "state",
        ),
        piece,
      }),
      { maxLength: 60, size: "max" },
    ),
    end: fc.constantFrom("finish", "error"),
    isEnded: fc.boolean(),
  })
  .map(({ moves, end, isEnded }) => play(moves, end, isEnded));

function play(moves: readonly Move[], end: string, isEnded: boolean): BaseEvent[] {
  const events: Record<string, unknown>[] = [
    { type: "RUN_STARTED", threadId: "thread-1", runId: "run-1", protocolVersion: "1.0" },
  ];
  const open = new Map<number, string>();
  const kindOf = (slot: number): Kind => kinds[slot % kinds.length]!;
  const close = (slot: number): void => {
    const { end: type, id } = kindOf(slot);
    if (open.has(slot)) events.push({ type, [id]: open.get(slot) });
    open.delete(slot);
  };
  for (const { slot, action, piece: delta } of moves) {
    const kind = kindOf(slot);
    if (action === "say" || action === "marked") {
      if (!open.has(slot)) {
        open.set(slot, `p${slot}-${events.length}`);
        events.push({ type: kind.start, [kind.id]: open.get(slot), ...kind.more });
      }
      if (delta === "") continue;
      const marked = action === "marked" ? { metadata: { at: events.length } } : {};
      events.push({ type: kind.delta, [kind.id]: open.get(slot), delta, ...marked });
    } else if (action === "end") {
      close(slot);
    } else if (action === "custom") {
      events.push({ type: "CUSTOM", name: "note", value: { text: `key-123${delta}`, n: 1234 } });
    } else {
      events.push({ type: "STATE_SNAPSHOT", snapshot: { list: [delta, `a key-99 b`] } });
    }
  }
  // An error may come while something is open; an end may not.
  if (end === "finish" || isEnded) for (const slot of open.keys()) close(slot);
  events.push(
    end === "finish"
      ? { type: "RUN_FINISHED", threadId: "thread-1", runId: "run-1" }
      : { type: "RUN_ERROR", message: "No key-123 here." },
  );
  return events as unknown as BaseEvent[];
}

const ids: Readonly<Record<string, string>> = Object.fromEntries(
  kinds.map(({ delta, id }) => [delta, id]),
);

/** Everything that was said, by the id of the part it belongs to. */
export function textsOf(events: readonly BaseEvent[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const event of events) {
    const id = ids[event.type];
    if (id === undefined) continue;
    const key = `${event.type} ${String(event[id])}`;
    texts.set(key, (texts.get(key) ?? "") + String(event.delta));
  }
  return texts;
}

/** The same run with neighbouring deltas of one part joined. */
export function joinNeighbours(events: readonly BaseEvent[]): BaseEvent[] {
  const joined: BaseEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    const id = ids[event.type];
    const isSame =
      id !== undefined &&
      last?.type === event.type &&
      last[id] === event[id] &&
      last.metadata === undefined &&
      event.metadata === undefined;
    if (isSame)
      joined[joined.length - 1] = { ...last, delta: String(last.delta) + String(event.delta) };
    else joined.push(event);
  }
  return joined;
}
