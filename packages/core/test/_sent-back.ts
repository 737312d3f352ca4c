/** What agents send in a first turn that clients have to send back with the second and the third. */
export interface SentBack {
  readonly name: string;
  readonly values: () => readonly unknown[];
  /** How the first turn ends. */
  readonly error?: { readonly code: string; readonly limit: string };
  readonly limits?: Readonly<Record<string, number>>;
}

const long = "x".repeat(2_000);
const half = "half a pair \ud800";

const message = (messageId: string, delta = "hello"): object[] => [
  { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId, delta },
  { type: "TEXT_MESSAGE_END", messageId },
];

const call = (toolCallId: string, parentMessageId?: string, content = "found"): object[] => [
  {
    type: "TOOL_CALL_START",
    toolCallId,
    toolCallName: "look",
    ...(parentMessageId === undefined ? {} : { parentMessageId }),
  },
  { type: "TOOL_CALL_ARGS", toolCallId, delta: '{"a":' },
  { type: "TOOL_CALL_ARGS", toolCallId, delta: "1}" },
  { type: "TOOL_CALL_END", toolCallId },
  { type: "TOOL_CALL_RESULT", messageId: `${toolCallId}!`, toolCallId, content },
];

const thought = (messageId: string, delta = "hm"): object[] => [
  { type: "REASONING_START", messageId },
  { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
  { type: "REASONING_MESSAGE_CONTENT", messageId, delta },
  { type: "REASONING_MESSAGE_END", messageId },
  {
    type: "REASONING_ENCRYPTED_VALUE",
    subtype: "message",
    entityId: messageId,
    encryptedValue: "e",
  },
  { type: "REASONING_END", messageId },
];

const snapshot = (id: string, text = "hello"): object[] => [
  {
    type: "MESSAGES_SNAPSHOT",
    messages: [
      { id: "u1", role: "user", content: "one" },
      {
        id,
        role: "assistant",
        content: text,
        toolCalls: [
          { id: `${id}c`, type: "function", function: { name: "look", arguments: "{}" } },
        ],
      },
      { id: `${id}t`, role: "tool", toolCallId: `${id}c`, content: text },
      { id: `${id}r`, role: "reasoning", content: text },
    ],
  },
];

export function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let at = 0; at < levels; at++) value = { a: value };
  return value;
}

const ids: readonly (readonly [string, string])[] = [
  ["300 characters", "y".repeat(300)],
  ["2,000 characters", long],
  ["a space", "a b"],
  ["a newline", "a\nb"],
  ["a null character", "a\0b"],
  ["letters of another script", "идентификатор-消息"],
  ["half a surrogate pair", half],
  ["nothing", ""],
];

/** The table: each is taken back, or refused before the client has it. */
export const sentBack: readonly SentBack[] = [
  { name: "an answer of 100,001 characters", values: () => ["y".repeat(100_001)] },
  {
    name: "a tool result of 100,001 characters",
    values: () => call("c", "m", "y".repeat(100_001)),
  },
  { name: "reasoning of 100,001 characters", values: () => thought("r", "y".repeat(100_001)) },
  ...ids.flatMap(([what, id]): SentBack[] => [
    { name: `a message id of ${what}`, values: () => message(id) },
    { name: `a tool call id of ${what}`, values: () => call(id) },
    { name: `a call in a message id of ${what}`, values: () => [...message(id), ...call("c", id)] },
    { name: `a reasoning id of ${what}`, values: () => [...thought(id), "hello"] },
    { name: `a snapshot with an id of ${what}`, values: () => snapshot(id) },
    {
      name: `a subagent id of ${what}`,
      values: () => [
        { type: "SUBAGENT_STARTED", subagentRunId: id, name: "helper" },
        ...message("m").map((event) => ({ ...event, subagentRunId: id })),
        { type: "SUBAGENT_FINISHED", subagentRunId: id },
      ],
    },
  ]),
  { name: "a snapshot with long texts", values: () => snapshot("s", "y".repeat(100_001)) },
  {
    name: "a user's message of 100,001 characters in a snapshot, last",
    values: () => [
      {
        type: "MESSAGES_SNAPSHOT",
        messages: [{ id: "u0", role: "user", content: "y".repeat(100_001) }],
      },
    ],
  },
  {
    name: "a user's message without text in a snapshot, last",
    values: () => [
      { type: "MESSAGES_SNAPSHOT", messages: [{ id: "u0", role: "user", content: "" }] },
    ],
  },
  {
    name: "state that is 50 deep",
    values: () => [{ type: "STATE_SNAPSHOT", snapshot: nested(50) }],
  },
  {
    name: "state that is 70 deep",
    values: () => [{ type: "STATE_SNAPSHOT", snapshot: nested(70) }],
    error: { code: "event-too-large", limit: "limits.jsonDepth is 64" },
  },
  {
    name: "state that a patch makes 64 deep",
    values: () => [
      { type: "STATE_SNAPSHOT", snapshot: nested(40) },
      { type: "STATE_DELTA", delta: [{ op: "add", path: "/a/a/b", value: nested(61) }] },
    ],
    error: { code: "event-too-large", limit: "limits.jsonDepth is 64" },
  },
  {
    name: "state that a copy of itself makes 64 deep",
    values: () => [
      { type: "STATE_SNAPSHOT", snapshot: nested(40) },
      {
        type: "STATE_DELTA",
        delta: [{ op: "copy", from: "/a", path: `/${Array(24).fill("a").join("/")}/b` }],
      },
    ],
    error: { code: "event-too-large", limit: "limits.jsonDepth is 64" },
  },
  {
    name: "metadata of a message that is 70 deep",
    values: () => [
      { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant", metadata: nested(70) },
    ],
    error: { code: "event-too-large", limit: "limits.jsonDepth is 64" },
  },
  {
    name: "a snapshot that is 70 deep",
    values: () => [
      {
        type: "MESSAGES_SNAPSHOT",
        messages: [{ id: "m", role: "assistant", content: "hi", metadata: nested(70) }],
      },
    ],
    error: { code: "event-too-large", limit: "limits.jsonDepth is 64" },
  },
  {
    name: "state that is too large after two events",
    values: () => [
      { type: "STATE_SNAPSHOT", snapshot: { a: "y".repeat(120_000) } },
      { type: "STATE_DELTA", delta: [{ op: "add", path: "/b", value: "y".repeat(120_000) }] },
    ],
    limits: { bodyBytes: 200_000 },
    error: { code: "history-too-large", limit: "limits.bodyBytes is 200000" },
  },
  {
    name: "state that is replaced again and again",
    values: () =>
      Array.from({ length: 40 }, (_, at) => ({
        type: "STATE_SNAPSHOT",
        snapshot: { at, text: "y".repeat(50_000) },
      })),
    limits: { bodyBytes: 200_000 },
  },
  {
    name: "text that grows past the body",
    values: () => Array.from({ length: 300 }, () => "y".repeat(1_000)),
    limits: { bodyBytes: 200_000 },
    error: { code: "history-too-large", limit: "limits.bodyBytes is 200000" },
  },
  {
    name: "quotes, which take two bytes each",
    values: () => Array.from({ length: 120 }, () => '"'.repeat(1_000)),
    limits: { bodyBytes: 200_000 },
    error: { code: "history-too-large", limit: "limits.bodyBytes is 200000" },
  },
  {
    name: "text that just fits",
    values: () => Array.from({ length: 150 }, () => "y".repeat(1_000)),
    limits: { bodyBytes: 200_000 },
  },
  {
    name: "letters of three bytes",
    values: () => Array.from({ length: 100 }, () => "字".repeat(1_000)),
    limits: { bodyBytes: 200_000 },
    error: { code: "history-too-large", limit: "limits.bodyBytes is 200000" },
  },
  {
    name: "a tool result larger than the body",
    values: () => call("c", "m", "y".repeat(300_000)),
    limits: { bodyBytes: 200_000 },
    error: { code: "history-too-large", limit: "limits.bodyBytes is 200000" },
  },
  {
    name: "a snapshot larger than the body",
    values: () => snapshot("s", "y".repeat(100_000)),
    limits: { bodyBytes: 200_000 },
    error: { code: "history-too-large", limit: "limits.bodyBytes is 200000" },
  },
  {
    name: "the same snapshot many times",
    values: () => Array.from({ length: 20 }, () => snapshot("s", "y".repeat(30_000))).flat(),
    limits: { bodyBytes: 200_000 },
  },
  {
    name: "an activity that is shown again and again",
    values: () =>
      Array.from({ length: 50 }, (_, at) => ({
        type: "ACTIVITY_SNAPSHOT",
        messageId: "a",
        activityType: "progress",
        content: { at, text: "y".repeat(10_000) },
      })),
    limits: { bodyBytes: 200_000 },
  },
  {
    name: "101 messages where 100 are accepted",
    values: () => Array.from({ length: 101 }, (_, at) => message(`m${at}`)).flat(),
    limits: { messages: 100 },
    error: { code: "history-too-large", limit: "limits.messages is 100" },
  },
  {
    name: "1,001 messages in a snapshot",
    values: () => [
      {
        type: "MESSAGES_SNAPSHOT",
        messages: Array.from({ length: 1_001 }, (_, at) => ({
          id: `m${at}`,
          role: "assistant",
          content: "hi",
        })),
      },
    ],
    error: { code: "history-too-large", limit: "limits.messages is 1000" },
  },
  {
    name: "calls and results without end",
    values: () => Array.from({ length: 30 }, (_, at) => call(`c${at}`)).flat(),
    limits: { messages: 20 },
    error: { code: "history-too-large", limit: "limits.messages is 20" },
  },
  {
    name: "calls of one message",
    values: () => Array.from({ length: 7 }, (_, at) => call(`c${at}`, "m")).flat(),
    limits: { messages: 20 },
  },
];
