import * as fc from "fast-check";

type Event = { type: string } & Record<string, unknown>;
type Move = { kind: string; a: number; b: number; text: string; note: object };

const kinds = (
  "text text text content content content end call call args args endCall result result encrypt " +
  "reason reasonMore activity activityDelta messages state step"
).split(" ");
const roles = ["assistant", "assistant", "user", "system", "developer"];

/** The middle of a valid run: what stands between RUN_STARTED and RUN_FINISHED. */
export const randomRun: fc.Arbitrary<Event[]> = fc
  .array(
    fc.record<Move>({
      kind: fc.constantFrom(...kinds),
      a: fc.nat(5),
      b: fc.nat(5),
      text: fc.string({ maxLength: 6 }),
      note: fc.oneof(
        { weight: 3, arbitrary: fc.constant({}) },
        {
          weight: 1,
          arbitrary: fc.record({
            metadata: fc.dictionary(fc.constantFrom("k", "l"), fc.jsonValue()),
          }),
        },
      ),
    }),
    { maxLength: 60 },
  )
  .map(play);

/** Turns moves into events, leaving out those that would not be valid where they stand. */
function play(moves: readonly Move[]): Event[] {
  const events: Event[] = [{ type: "SUBAGENT_STARTED", subagentRunId: "sub", name: "helper" }];
  const openText = new Set<string>();
  const openCalls = new Set<string>();
  const openReasoning = new Set<string>();
  const openSteps = new Set<string>();
  const parents = new Map<string, string | undefined>();

  for (const { kind, a, b, text, note } of moves) {
    const messageId = ["m0", "m1", "m2", "s0", "s1", "h2"][a]!;
    const toolCallId = ["c0", "c1", "c2", "sc", "c3", "hc0"][a]!;
    const reasoningId = ["r0", "r1", "sr", "r0", "r1", "hr"][a]!;
    const activityId = ["a0", "a1", "sa", "a0", "ha", "m2"][a]!;
    if (kind === "text" && !openText.has(messageId)) {
      openText.add(messageId);
      const name = b === 5 ? { name: text } : {};
      const role = b === 0 ? {} : { role: roles[b - 1] };
      events.push({
        type: "TEXT_MESSAGE_START",
        messageId,
        ...role,
        ...name,
        ...tag(messageId),
        ...note,
      });
    } else if (kind === "content" && openText.has(messageId)) {
      for (let i = 0; i <= b % 3; i++) {
        events.push({ type: "TEXT_MESSAGE_CONTENT", messageId, delta: `${text}${i}`, ...note });
      }
    } else if (kind === "end" && openText.delete(messageId)) {
      events.push({ type: "TEXT_MESSAGE_END", messageId, ...note });
    } else if (kind === "call" && !openCalls.has(toolCallId)) {
      const own = toolCallId === "sc" ? ["s0", "s1"] : ["m0", "m1", "m9", "u0", "h2"];
      if (!parents.has(toolCallId)) parents.set(toolCallId, toolCallId === "hc0" ? "h0" : own[b]);
      const parentMessageId = parents.get(toolCallId);
      openCalls.add(toolCallId);
      events.push({
        type: "TOOL_CALL_START",
        toolCallId,
        toolCallName: `tool-${text}`,
        ...(parentMessageId && { parentMessageId }),
        ...tag(toolCallId),
        ...note,
      });
    } else if (kind === "args" && openCalls.has(toolCallId)) {
      for (let i = 0; i <= b % 3; i++) {
        events.push({ type: "TOOL_CALL_ARGS", toolCallId, delta: `${text}${i}`, ...note });
      }
    } else if (kind === "endCall" && openCalls.delete(toolCallId)) {
      events.push({ type: "TOOL_CALL_END", toolCallId, ...note });
    } else if (kind === "result") {
      const content = b === 0 ? [{ type: "text", text }] : text;
      const id = `t${events.length}`;
      events.push({
        type: "TOOL_CALL_RESULT",
        messageId: id,
        toolCallId,
        content,
        ...tag(toolCallId),
        ...note,
      });
    } else if (kind === "encrypt") {
      const target =
        b < 3
          ? { subtype: "tool-call", entityId: toolCallId }
          : { subtype: "message", entityId: messageId };
      events.push({ type: "REASONING_ENCRYPTED_VALUE", ...target, encryptedValue: text });
    } else if (kind === "reason" && !openReasoning.has(reasoningId)) {
      openReasoning.add(reasoningId);
      events.push(
        { type: "REASONING_START", messageId: reasoningId, ...tag(reasoningId) },
        {
          type: "REASONING_MESSAGE_START",
          messageId: reasoningId,
          role: "reasoning",
          ...tag(reasoningId),
          ...note,
        },
      );
    } else if (kind === "reasonMore" && openReasoning.has(reasoningId)) {
      events.push({
        type: "REASONING_MESSAGE_CONTENT",
        messageId: reasoningId,
        delta: text,
        ...note,
      });
    } else if (kind === "activity") {
      const content = { n: b, list: [text] };
      const replace = b < 2 ? { replace: b === 0 } : {};
      events.push({
        type: "ACTIVITY_SNAPSHOT",
        messageId: activityId,
        activityType: `T${b % 2}`,
        content,
        ...replace,
        ...tag(activityId),
        ...note,
      });
    } else if (kind === "activityDelta") {
      const patch = [
        { op: "replace", path: "/n", value: text },
        b === 0 ? { op: "remove", path: "/missing" } : { op: "add", path: "/list/-", value: b },
      ];
      events.push({
        type: "ACTIVITY_DELTA",
        messageId: activityId,
        activityType: "T2",
        patch,
        ...note,
      });
    } else if (kind === "messages") {
      const all = [
        { id: "u0", role: "user", content: text },
        { id: "m0", role: "assistant", content: text },
        {
          id: "h0",
          role: "assistant",
          toolCalls: [{ id: "hc0", type: "function", function: { name: "look", arguments: text } }],
        },
        { id: "a0", role: "activity", activityType: "T1", content: { n: 0, list: [] } },
        { id: "r0", role: "reasoning", content: text },
        { id: `n${a}`, role: "user", content: [{ type: "text", text }] },
      ];
      events.push({
        type: "MESSAGES_SNAPSHOT",
        messages: all.filter((_, i) => i !== a && i !== b),
      });
    } else if (kind === "state") {
      events.push({ type: "STATE_SNAPSHOT", snapshot: { text } });
    } else if (kind === "step" && !openSteps.has(text)) {
      openSteps.add(text);
      events.push({ type: "STEP_STARTED", stepName: text });
    }
  }
  for (const stepName of openSteps) events.push({ type: "STEP_FINISHED", stepName });
  for (const messageId of openReasoning) {
    events.push({ type: "REASONING_MESSAGE_END", messageId }, { type: "REASONING_END", messageId });
  }
  for (const messageId of openText) events.push({ type: "TEXT_MESSAGE_END", messageId });
  for (const toolCallId of openCalls) events.push({ type: "TOOL_CALL_END", toolCallId });
  return [...events, { type: "SUBAGENT_FINISHED", subagentRunId: "sub" }];
}

/** An id always belongs to the same agent, as the verifier demands. */
function tag(id: string): object {
  return id.startsWith("s") ? { subagentRunId: "sub" } : {};
}
