import * as fc from "fast-check";

export type Loose = Record<string, unknown>;

export const delta: fc.Arbitrary<string> = fc.oneof(fc.string({ maxLength: 4 }), fc.constant(""));
export const json: fc.Arbitrary<unknown> = fc.jsonValue({ maxDepth: 2 });
export const record: fc.Arbitrary<Loose> = fc.dictionary(
  fc.constantFrom("x", "y", "__proto__"),
  json,
  { maxKeys: 2 },
);
export const role: fc.Arbitrary<string> = fc.constantFrom(
  "developer",
  "system",
  "assistant",
  "user",
);
const id = fc.constantFrom("a", "b", "c");
const owner = fc.constantFrom("s1", "s2", "");
const path = fc.constantFrom("", "/x", "/y", "/x/y", "/list/-", "bad", "/~2");

const operation = fc.oneof(
  fc.record({ op: fc.constantFrom("add", "replace", "test"), path, value: json }),
  fc.record({ op: fc.constant("remove"), path }),
  fc.record({ op: fc.constantFrom("move", "copy"), path, from: path }),
);
const patch = fc.array(operation, { maxLength: 3 });

const part = fc.oneof(
  fc.record({ type: fc.constant("text"), text: fc.string() }),
  fc.record({
    type: fc.constantFrom("image", "document"),
    source: fc.constantFrom(
      { type: "url", value: "https://example.org/a.png" },
      { type: "data", value: "AAAA", mimeType: "image/png" },
      { type: "file", value: "f", mimeType: null },
    ),
    metadata: fc.constantFrom(null, { a: 1 }),
  }),
);

const toolCall = fc.record({
  id,
  type: fc.constant("function"),
  function: fc.record({ name: id, arguments: fc.string() }),
});

const message = fc.record(
  {
    id: fc.oneof(id, fc.constant(null)),
    role: fc.constantFrom("user", "assistant", "tool", "reasoning", "activity", "system", "x"),
    content: fc.oneof(fc.string(), fc.constant(null), record, fc.array(part, { maxLength: 2 })),
    toolCalls: fc.oneof(fc.array(toolCall, { maxLength: 2 }), fc.constantFrom(null, {}, 7, "x")),
    toolCallId: id,
    activityType: id,
    name: fc.constantFrom("n", null),
    subagentRunId: fc.oneof(owner, fc.constant(null)),
    metadata: fc.oneof(record, fc.constant(null)),
  },
  { requiredKeys: ["id", "role"] },
);

const usage = fc.array(
  fc.record(
    { model: id, inputTokens: fc.nat(), outputTokens: fc.oneof(fc.nat(), fc.constant(1.5)) },
    { requiredKeys: [] },
  ),
  { maxLength: 2 },
);

const outcome = fc.oneof(
  fc.constantFrom(
    { type: "success" },
    { type: "cancelled" },
    { type: "interrupt", interrupts: [] },
    { type: "suspended", interruptIds: ["i", 7] },
    { type: "suspended", interruptIds: null },
    { type: "nonsense" },
  ),
  fc.record({
    type: fc.constant("interrupt"),
    interrupts: fc.array(
      fc.record({ id, reason: id, subagentRunId: fc.constantFrom(null, "s1") }),
      { minLength: 1, maxLength: 2 },
    ),
  }),
  fc.record({ type: fc.constant("success"), pendingToolCallIds: fc.array(id, { maxLength: 2 }) }),
);

/** Every field of every one of the 31 types, as it should be. */
const fields: Record<string, Record<string, fc.Arbitrary<unknown>>> = {
  RUN_STARTED: { threadId: fc.constantFrom("thread", "x"), runId: fc.constant("run"), input: json },
  RUN_FINISHED: {
    threadId: fc.constant("thread"),
    runId: fc.constant("run"),
    result: json,
    outcome,
    usage,
  },
  RUN_ERROR: { message: fc.string(), code: id, usage },
  STEP_STARTED: { stepName: id },
  STEP_FINISHED: { stepName: id },
  TEXT_MESSAGE_START: { messageId: id, role, name: id },
  TEXT_MESSAGE_CONTENT: { messageId: id, delta },
  TEXT_MESSAGE_END: { messageId: id },
  TEXT_MESSAGE_CHUNK: { messageId: id, role, name: id, delta },
  TOOL_CALL_START: { toolCallId: id, toolCallName: id, parentMessageId: id },
  TOOL_CALL_ARGS: { toolCallId: id, delta },
  TOOL_CALL_END: { toolCallId: id },
  TOOL_CALL_CHUNK: { toolCallId: id, toolCallName: id, parentMessageId: id, delta },
  TOOL_CALL_RESULT: {
    messageId: id,
    toolCallId: id,
    content: fc.oneof(fc.string(), fc.array(part, { maxLength: 2 }), json),
    role: fc.constant("tool"),
  },
  STATE_SNAPSHOT: { snapshot: json },
  STATE_DELTA: { delta: patch },
  MESSAGES_SNAPSHOT: { messages: fc.array(message, { maxLength: 3 }) },
  ACTIVITY_SNAPSHOT: { messageId: id, activityType: id, content: record, replace: fc.boolean() },
  ACTIVITY_DELTA: { messageId: id, activityType: id, patch },
  RAW: { event: json, source: id },
  CUSTOM: { name: id, value: json },
  REASONING_START: { messageId: id },
  REASONING_MESSAGE_START: { messageId: id, role: fc.constant("reasoning") },
  REASONING_MESSAGE_CONTENT: { messageId: id, delta },
  REASONING_MESSAGE_END: { messageId: id },
  REASONING_MESSAGE_CHUNK: { messageId: id, delta },
  REASONING_END: { messageId: id },
  REASONING_ENCRYPTED_VALUE: {
    subtype: fc.constantFrom("tool-call", "message"),
    entityId: id,
    encryptedValue: fc.string(),
  },
  SUBAGENT_STARTED: {
    name: id,
    description: id,
    parentSubagentRunId: owner,
    parentToolCallId: id,
    parentMessageId: id,
  },
  SUBAGENT_FINISHED: { result: json, outcome },
  SUBAGENT_ERROR: { message: fc.string(), code: id },
};

// Seldom, so that runs get long enough for the rest to happen.
const terminal = new Set(["RUN_FINISHED", "RUN_ERROR"]);

const rubbish = fc.constantFrom<unknown[]>(
  null,
  undefined,
  7,
  1.5,
  Number.NaN,
  true,
  {},
  [],
  [null, 1],
  new Date(0),
  10n,
  () => 1,
  Symbol("x"),
  cyclic(),
  new Map([["a", 1]]),
);

function eventOf(type: string, required: boolean): fc.Arbitrary<Loose> {
  const common = {
    subagentRunId: fc.oneof(
      { weight: 4, arbitrary: owner },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
    timestamp: fc.constantFrom(1, 1.5, null, "now"),
    rawEvent: fc.oneof(json, fc.constant(10n)),
    metadata: fc.oneof(record, fc.constantFrom(null, cyclic())),
    extra: fc.constantFrom(1, 10n, cyclic()),
  };
  const own = fields[type]!;
  return fc
    .tuple(
      fc.record(own, { requiredKeys: required ? Object.keys(own).filter(isNeeded) : [] }),
      fc.record(common, { requiredKeys: [] }),
      fc.nat({ max: 7 }),
    )
    .map(([body, rest, dice]) => ({
      type,
      ...(dice < 3 && "subagentRunId" in rest ? { subagentRunId: rest.subagentRunId } : {}),
      ...(dice === 0 ? rest : {}),
      ...body,
    }));
}

// The optional ones among the fields above.
function isNeeded(key: string): boolean {
  return ![
    "input",
    "usage",
    "outcome",
    "code",
    "role",
    "name",
    "parentMessageId",
    "description",
    "replace",
    "source",
    "parentSubagentRunId",
    "parentToolCallId",
  ].includes(key);
}

const good = fc.oneof(
  ...Object.keys(fields).map((type) => ({
    weight: terminal.has(type) ? 1 : 20,
    arbitrary: eventOf(type, true),
  })),
);
const partial = fc.oneof(
  ...Object.keys(fields).map((type) => ({
    weight: terminal.has(type) ? 1 : 20,
    arbitrary: eventOf(type, false),
  })),
);
const spoiled = fc
  .tuple(
    partial,
    fc.constantFrom(
      "messageId",
      "toolCallId",
      "delta",
      "name",
      "role",
      "snapshot",
      "value",
      "content",
      "patch",
      "messages",
      "stepName",
      "subagentRunId",
      "result",
      "outcome",
      "usage",
      "threadId",
      "timestamp",
      "entityId",
      "delta",
    ),
    rubbish,
  )
  .map(([event, key, value]) => ({ ...event, [key]: value }));
const legacy = fc.record(
  {
    type: fc.constantFrom(
      "THINKING_START",
      "THINKING_END",
      "THINKING_TEXT_MESSAGE_START",
      "THINKING_TEXT_MESSAGE_CONTENT",
      "THINKING_TEXT_MESSAGE_END",
      "NOBODY_KNOWS",
      "",
    ),
    delta,
    title: fc.string(),
  },
  { requiredKeys: ["type"] },
);

/** Whatever an agent may say: mostly events in any order, with ids that collide. */
export const anything: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 12, arbitrary: good },
  { weight: 4, arbitrary: partial },
  { weight: 2, arbitrary: spoiled },
  { weight: 3, arbitrary: delta },
  { weight: 1, arbitrary: legacy },
  { weight: 1, arbitrary: rubbish },
);

function cyclic(): Loose {
  const self: Loose = { type: "CUSTOM", name: "loop" };
  self.value = self;
  self.again = [self];
  return self;
}
