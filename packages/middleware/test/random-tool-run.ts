import type { BaseEvent } from "@holodeck/agui-core";
import * as fc from "fast-check";

export const toolNames = ["open", "denied", "blurred"] as const;

interface Move {
  readonly kind: string;
  readonly slot: number;
  readonly text: string;
}

const kinds = [
  "start",
  "start",
  "args",
  "args",
  "args",
  "end",
  "result",
  "result",
  "encrypt",
  "text",
  "subagent",
  "snapshot",
  "state",
];

/** The tool of a call, told by its id. */
export function nameOf(id: string): string {
  return id.split("-")[0]!;
}

/** A valid run with interleaved calls of three tools. */
export const randomToolRun: fc.Arbitrary<BaseEvent[]> = fc
  .record({
    moves: fc.array(
      fc.record<Move>({
        kind: fc.constantFrom(...kinds),
        slot: fc.nat(8),
        text: fc.string({ maxLength: 4 }),
      }),
      { maxLength: 50, size: "max" },
    ),
    end: fc.constantFrom("success", "pending", "interrupt", "error"),
  })
  .map(({ moves, end }) => play(moves, end));

function play(moves: readonly Move[], end: string): BaseEvent[] {
  const events: Record<string, unknown>[] = [
    { type: "RUN_STARTED", threadId: "thread-1", runId: "run-1", protocolVersion: "1.0" },
  ];
  const open = new Set<string>();
  const begun = new Set<string>();
  const answered = new Set<string>();
  const subagents: string[] = [];
  let openText: string | undefined;

  for (const { kind, slot, text } of moves) {
    const id = `${toolNames[slot % 3]}-${Math.floor(slot / 3)}`;
    const toolCallId = id;
    if (kind === "start" && !begun.has(id)) {
      begun.add(id);
      open.add(id);
      const parent = slot % 2 === 0 ? { parentMessageId: "m" } : {};
      const rawEvent = { call: id, args: `secret${text}` };
      const toolCallName = nameOf(id);
      events.push({ type: "TOOL_CALL_START", toolCallId, toolCallName, ...parent, rawEvent });
    } else if (kind === "args" && open.has(id)) {
      events.push({ type: "TOOL_CALL_ARGS", toolCallId, delta: `secret${text}` });
    } else if (kind === "end" && open.delete(id)) {
      events.push({ type: "TOOL_CALL_END", toolCallId });
    } else if (kind === "result" && begun.has(id) && !open.has(id) && !answered.has(id)) {
      answered.add(id);
      const content = slot % 2 === 0 ? `secret${text}` : [{ type: "text", text: `secret${text}` }];
      events.push({ type: "TOOL_CALL_RESULT", messageId: `r-${id}`, toolCallId, content });
    } else if (kind === "encrypt" && begun.has(id)) {
      const value = { subtype: "tool-call", entityId: id, encryptedValue: text };
      events.push({ type: "REASONING_ENCRYPTED_VALUE", ...value });
    } else if (kind === "text") {
      if (openText === undefined) {
        openText = `m${events.length}`;
        events.push({ type: "TEXT_MESSAGE_START", messageId: openText, role: "assistant" });
      } else {
        events.push({ type: "TEXT_MESSAGE_CONTENT", messageId: openText, delta: text });
      }
    } else if (kind === "subagent" && begun.has(id)) {
      const subagentRunId = `s${events.length}`;
      subagents.push(subagentRunId);
      const parent = { parentToolCallId: id };
      events.push({ type: "SUBAGENT_STARTED", subagentRunId, name: "helper", ...parent });
    } else if (kind === "snapshot") {
      events.push({ type: "MESSAGES_SNAPSHOT", messages: history([...begun], answered) });
    } else if (kind === "state") {
      events.push({ type: "STATE_SNAPSHOT", snapshot: { text } });
    }
  }
  for (const toolCallId of open) events.push({ type: "TOOL_CALL_END", toolCallId });
  if (openText !== undefined) events.push({ type: "TEXT_MESSAGE_END", messageId: openText });
  for (const id of subagents) events.push({ type: "SUBAGENT_FINISHED", subagentRunId: id });
  const pendingToolCallIds = [...begun].filter((id) => !answered.has(id));
  return [...events, terminal(end, pendingToolCallIds)] as unknown as BaseEvent[];
}

function history(ids: readonly string[], answered: ReadonlySet<string>): object[] {
  const call = (id: string): object => ({
    id,
    type: "function",
    function: { name: nameOf(id), arguments: "secret" },
  });
  const results = ids
    .filter((id) => answered.has(id))
    .map((id) => ({ id: `r-${id}`, role: "tool", toolCallId: id, content: "secret" }));
  const calls = ids.map((id) => ({
    id: `h-${ids.length}`,
    role: "assistant",
    toolCalls: [call(id)],
  }));
  return [{ id: "u", role: "user", content: "hi" }, ...calls.slice(0, 1), ...results];
}

function terminal(end: string, pendingToolCallIds: readonly string[]): object {
  const ids = { threadId: "thread-1", runId: "run-1" };
  if (end === "error") return { type: "RUN_ERROR", message: "No." };
  if (end === "success" || pendingToolCallIds.length === 0) return { type: "RUN_FINISHED", ...ids };
  if (end === "pending") {
    return { type: "RUN_FINISHED", ...ids, outcome: { type: "success", pendingToolCallIds } };
  }
  const interrupts = pendingToolCallIds.map((toolCallId, index) => ({
    id: `i${index}`,
    reason: "tool_call",
    toolCallId,
  }));
  return { type: "RUN_FINISHED", ...ids, outcome: { type: "interrupt", interrupts } };
}
