import * as fc from "fast-check";
import { delta, json, record, role } from "./guard-arbitraries.ts";
import type { Loose } from "./guard-arbitraries.ts";

type Track = Loose[];

const tracks: fc.Arbitrary<Track>[] = [
  fc
    .tuple(role, fc.array(delta, { maxLength: 4 }))
    .map(([role, texts]) => [
      { type: "TEXT_MESSAGE_START", messageId: "#", role },
      ...texts.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId: "#", delta })),
      { type: "TEXT_MESSAGE_END", messageId: "#" },
    ]),
  fc
    .array(delta, { maxLength: 4 })
    .map((args) => [
      { type: "TOOL_CALL_START", toolCallId: "#", toolCallName: "search" },
      ...args.map((delta) => ({ type: "TOOL_CALL_ARGS", toolCallId: "#", delta })),
      { type: "TOOL_CALL_END", toolCallId: "#" },
      { type: "TOOL_CALL_RESULT", messageId: "#result", toolCallId: "#", content: "ok" },
    ]),
  fc
    .array(delta, { maxLength: 3 })
    .map((texts) => [
      { type: "REASONING_START", messageId: "#" },
      { type: "REASONING_MESSAGE_START", messageId: "#", role: "reasoning" },
      ...texts.map((delta) => ({ type: "REASONING_MESSAGE_CONTENT", messageId: "#", delta })),
      { type: "REASONING_MESSAGE_END", messageId: "#" },
      { type: "REASONING_END", messageId: "#" },
    ]),
  fc.constant([
    { type: "STEP_STARTED", stepName: "#" },
    { type: "STEP_FINISHED", stepName: "#" },
  ]),
  fc.tuple(record, fc.boolean()).map(([content, replace]) => [
    { type: "ACTIVITY_SNAPSHOT", messageId: "#", activityType: "plan", content, replace },
    { type: "ACTIVITY_DELTA", messageId: "#", activityType: "plan", patch: [] },
  ]),
  fc.tuple(json, json).map(([value, event]) => [
    { type: "CUSTOM", name: "note", value },
    { type: "RAW", event },
  ]),
  json.map((value) => [
    { type: "STATE_SNAPSHOT", snapshot: { x: value } },
    { type: "STATE_DELTA", delta: [{ op: "test", path: "", value: { x: value } }] },
  ]),
  fc.constant([
    { type: "MESSAGES_SNAPSHOT", messages: [{ id: "old", role: "user", content: "hi" }] },
  ]),
];

const timed = fc.option(fc.nat(), { nil: undefined });

const lane = fc.array(fc.tuple(fc.oneof(...tracks), timed), { maxLength: 4 }).map((list) => {
  let states = 0;
  return list.filter(([track]) => track[0]!.type !== "STATE_SNAPSHOT" || states++ === 0);
});

/** A well-nested run in which text, tools, reasoning, steps and subagents overlap. */
export const validRun: fc.Arbitrary<Loose[]> = fc
  .tuple(lane, fc.option(lane, { nil: undefined }), fc.infiniteStream(fc.nat()), fc.boolean())
  .map(([root, sub, dice, explicitEnd]) => {
    const queues: Loose[][] = root.map(([track, time], i) => name(track, `r${i}`, { time }));
    if (sub) {
      const inner = sub
        .filter(([track]) => !isRunLevel(track[0]!))
        .flatMap(([track, time], i) => name(track, `s${i}`, { time, owner: "sub" }));
      queues.push([
        { type: "SUBAGENT_STARTED", subagentRunId: "sub", name: "helper" },
        ...inner,
        { type: "SUBAGENT_FINISHED", subagentRunId: "sub", outcome: { type: "success" } },
      ]);
    }
    const events: Loose[] = [
      { type: "RUN_STARTED", threadId: "thread", runId: "run", protocolVersion: "1.0" },
    ];
    for (let open = queues.filter(hasMore); open.length > 0; open = queues.filter(hasMore)) {
      const next: number = dice.next().value ?? 0;
      events.push(open[next % open.length]!.shift()!);
    }
    events.push({
      type: "RUN_FINISHED",
      threadId: "thread",
      runId: "run",
      ...(explicitEnd ? { result: { ok: true }, outcome: { type: "success" } } : {}),
    });
    return events;
  });

function isRunLevel({ type }: Loose): boolean {
  return type === "STATE_SNAPSHOT" || type === "MESSAGES_SNAPSHOT";
}

function hasMore(queue: readonly Loose[]): boolean {
  return queue.length > 0;
}

function name(
  track: Track,
  id: string,
  options: { time?: number | undefined; owner?: string },
): Track {
  return track.map((event) => {
    const named: Loose = {};
    for (const [key, value] of Object.entries(event)) {
      named[key] = typeof value === "string" && value.startsWith("#") ? id + value.slice(1) : value;
    }
    // A delta is no id.
    if ("delta" in event) named.delta = event.delta;
    if (options.time !== undefined) named.timestamp = options.time;
    if (options.owner !== undefined) named.subagentRunId = options.owner;
    return named;
  });
}

const chunk = fc.oneof(
  fc.record({
    type: fc.constant("TEXT_MESSAGE_CHUNK"),
    messageId: fc.constantFrom("a", "b"),
    delta: fc.constantFrom("x", "y"),
  }),
  fc.record({
    type: fc.constant("TOOL_CALL_CHUNK"),
    toolCallId: fc.constantFrom("a", "b"),
    toolCallName: fc.constant("search"),
    delta: fc.constantFrom("{", "}"),
  }),
  fc.record({ type: fc.constantFrom("CUSTOM"), name: fc.constant("n"), value: json }),
  fc.record({ type: fc.constantFrom("RAW"), event: json }),
  fc.record({ type: fc.constantFrom("STATE_SNAPSHOT"), snapshot: json }),
  fc.constant({ type: "MESSAGES_SNAPSHOT", messages: [] }),
);

/** A run of chunks, of the agent and of a subagent with ids of its own. */
export const chunkRun: fc.Arbitrary<Loose[]> = fc
  .array(fc.tuple(chunk, fc.boolean()), { maxLength: 20 })
  .map((list) => [
    { type: "RUN_STARTED", threadId: "thread", runId: "run", protocolVersion: "1.0" },
    ...list.map(([event, isTheirs]) => (isTheirs ? ofSubagent(event) : event)),
    // Ends every stream, so that the order of ends at the end of a run is no matter here.
    { type: "MESSAGES_SNAPSHOT", messages: [] },
    { type: "RUN_FINISHED", threadId: "thread", runId: "run" },
  ]);

function ofSubagent(event: Loose): Loose {
  if (isRunLevel(event)) return event;
  const theirs: Loose = { ...event, subagentRunId: "s" };
  if ("messageId" in event) theirs.messageId = `s-${String(event.messageId)}`;
  if ("toolCallId" in event) theirs.toolCallId = `s-${String(event.toolCallId)}`;
  return theirs;
}
