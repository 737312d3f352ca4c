/** One example per event type, and a run that holds them. Data, hence longer than our usual file. */
import { EventType, PROTOCOL_VERSION } from "@holodeck/agui-core";
import type { BaseEvent } from "@holodeck/agui-core";
import type { AGUIEventByType, ContentPart, Message, RunAgentInput, TokenUsage } from "@ag-ui/core";

const threadId = "thread-1";
const runId = "run-1";
const subagentRunId = "subagent-1";
const base = {
  timestamp: 1_760_000_000_000,
  rawEvent: { provider: "example", seq: 1 },
  metadata: { trace: "trace-1", nested: { list: [1, null, "ü"] } },
};
const owned = { ...base, subagentRunId };

const parts: ContentPart[] = [
  { type: "text", id: "part-1", text: "18 °C\nand rain", metadata: { unit: "celsius" } },
  {
    type: "image",
    id: "part-2",
    source: { type: "data", value: "iVBORw0=", mimeType: "image/png" },
  },
  { type: "document", source: { type: "url", value: "https://example.com/a.pdf" } },
];

const usage: TokenUsage[] = [
  {
    provider: "example",
    model: "example-1",
    inputTokens: 120,
    outputTokens: 30,
    totalTokens: 150,
    reasoningTokens: 10,
    cachedInputTokens: 40,
    cacheWriteInputTokens: 20,
  },
];

const history: Message[] = [
  { id: "message-0", role: "user", content: "How is the weather?", name: "ada", metadata: {} },
  {
    id: "message-00",
    role: "assistant",
    content: "One moment.",
    toolCalls: [
      {
        id: "call-0",
        type: "function",
        function: { name: "locate", arguments: '{"city":"Bern"}' },
        encryptedValue: "c2VjcmV0",
      },
    ],
  },
  { id: "result-0", role: "tool", toolCallId: "call-0", content: "46.9,7.4" },
];

const input: RunAgentInput = {
  threadId,
  runId,
  protocolVersion: PROTOCOL_VERSION,
  parentRunId: "run-0",
  state: { count: 0 },
  messages: history,
  tools: [{ name: "ask", description: "Asks the user.", parameters: { type: "object" } }],
  context: [{ description: "locale", value: "de-CH" }],
  forwardedProps: { theme: "dark" },
  resume: [{ interruptId: "interrupt-0", status: "resolved", payload: { approved: true } }],
};

/** An example of every event type, with every field it may have. */
export const eventExamples: Readonly<AGUIEventByType> = {
  RUN_STARTED: {
    type: EventType.RUN_STARTED,
    threadId,
    runId,
    protocolVersion: PROTOCOL_VERSION,
    parentRunId: "run-0",
    input,
    ...base,
  },
  RUN_FINISHED: {
    type: EventType.RUN_FINISHED,
    threadId,
    runId,
    result: { answer: 42 },
    outcome: { type: "success", pendingToolCallIds: ["call-2"] },
    usage,
    ...base,
  },
  RUN_ERROR: {
    type: EventType.RUN_ERROR,
    message: "No luck.",
    code: "agent-error",
    usage,
    ...base,
  },
  STEP_STARTED: { type: EventType.STEP_STARTED, stepName: "research", ...owned },
  STEP_FINISHED: { type: EventType.STEP_FINISHED, stepName: "research", ...owned },
  TEXT_MESSAGE_START: {
    type: EventType.TEXT_MESSAGE_START,
    messageId: "message-1",
    role: "assistant",
    name: "guide",
    ...owned,
  },
  TEXT_MESSAGE_CONTENT: {
    type: EventType.TEXT_MESSAGE_CONTENT,
    messageId: "message-1",
    delta: 'Line one\nline "two" 🌦 ',
    ...owned,
  },
  TEXT_MESSAGE_END: { type: EventType.TEXT_MESSAGE_END, messageId: "message-1", ...owned },
  TEXT_MESSAGE_CHUNK: {
    type: EventType.TEXT_MESSAGE_CHUNK,
    messageId: "message-2",
    role: "assistant",
    delta: "A chunk.",
    name: "guide",
    ...owned,
  },
  TOOL_CALL_START: {
    type: EventType.TOOL_CALL_START,
    toolCallId: "call-1",
    toolCallName: "weather",
    parentMessageId: "message-1",
    ...owned,
  },
  TOOL_CALL_ARGS: {
    type: EventType.TOOL_CALL_ARGS,
    toolCallId: "call-1",
    delta: '{"city":"Bern"}',
    ...owned,
  },
  TOOL_CALL_END: { type: EventType.TOOL_CALL_END, toolCallId: "call-1", ...owned },
  TOOL_CALL_CHUNK: {
    type: EventType.TOOL_CALL_CHUNK,
    toolCallId: "call-3",
    toolCallName: "weather",
    parentMessageId: "message-1",
    delta: '{"city":"Basel"}',
    ...owned,
  },
  TOOL_CALL_RESULT: {
    type: EventType.TOOL_CALL_RESULT,
    messageId: "result-1",
    toolCallId: "call-1",
    content: parts,
    role: "tool",
    ...owned,
  },
  STATE_SNAPSHOT: {
    type: EventType.STATE_SNAPSHOT,
    snapshot: { count: 1, list: ["a"], nothing: null },
    ...owned,
  },
  STATE_DELTA: {
    type: EventType.STATE_DELTA,
    delta: [
      { op: "test", path: "/count", value: 1 },
      { op: "replace", path: "/count", value: 2 },
      { op: "add", path: "/list/-", value: { "a/b": "~" } },
      { op: "copy", from: "/list/0", path: "/first" },
      { op: "move", from: "/first", path: "/best" },
      { op: "remove", path: "/nothing" },
    ],
    ...owned,
  },
  MESSAGES_SNAPSHOT: { type: EventType.MESSAGES_SNAPSHOT, messages: history, ...base },
  ACTIVITY_SNAPSHOT: {
    type: EventType.ACTIVITY_SNAPSHOT,
    messageId: "activity-1",
    activityType: "PLAN",
    content: { steps: [{ title: "look", done: false }] },
    replace: true,
    ...owned,
  },
  ACTIVITY_DELTA: {
    type: EventType.ACTIVITY_DELTA,
    messageId: "activity-1",
    activityType: "PLAN",
    patch: [{ op: "replace", path: "/steps/0/done", value: true }],
    ...owned,
  },
  RAW: {
    type: EventType.RAW,
    event: { id: "chunk-1", choices: [null] },
    source: "example",
    ...owned,
  },
  CUSTOM: { type: EventType.CUSTOM, name: "confetti", value: { colours: ["red", null] }, ...owned },
  REASONING_START: { type: EventType.REASONING_START, messageId: "span-1", ...owned },
  REASONING_MESSAGE_START: {
    type: EventType.REASONING_MESSAGE_START,
    messageId: "reasoning-1",
    role: "reasoning",
    ...owned,
  },
  REASONING_MESSAGE_CONTENT: {
    type: EventType.REASONING_MESSAGE_CONTENT,
    messageId: "reasoning-1",
    delta: "The user means Bern.",
    ...owned,
  },
  REASONING_MESSAGE_END: {
    type: EventType.REASONING_MESSAGE_END,
    messageId: "reasoning-1",
    ...owned,
  },
  REASONING_MESSAGE_CHUNK: {
    type: EventType.REASONING_MESSAGE_CHUNK,
    messageId: "reasoning-2",
    delta: "Or Basel?",
    ...owned,
  },
  REASONING_END: { type: EventType.REASONING_END, messageId: "span-1", ...owned },
  REASONING_ENCRYPTED_VALUE: {
    type: EventType.REASONING_ENCRYPTED_VALUE,
    subtype: "message",
    entityId: "reasoning-1",
    encryptedValue: "c2VjcmV0IHRob3VnaHQ=",
    ...owned,
  },
  SUBAGENT_STARTED: {
    type: EventType.SUBAGENT_STARTED,
    subagentRunId,
    name: "forecaster",
    description: "Knows the weather.",
    parentSubagentRunId: "subagent-0",
    parentToolCallId: "call-0",
    parentMessageId: "message-00",
    ...base,
  },
  SUBAGENT_FINISHED: {
    type: EventType.SUBAGENT_FINISHED,
    subagentRunId,
    result: { forecast: "rain" },
    outcome: { type: "success" },
    ...base,
  },
  SUBAGENT_ERROR: {
    type: EventType.SUBAGENT_ERROR,
    subagentRunId: "subagent-0",
    message: "Gave up.",
    code: "example/gave-up",
    ...base,
  },
};

const { input: _, ...runStarted } = eventExamples.RUN_STARTED;

/**
 * A valid run with every event type that can occur in one: all but the CHUNK kinds, which a server
 * expands, and RUN_ERROR, which would end it.
 */
export const exampleRun: readonly BaseEvent[] = [
  runStarted,
  { type: EventType.SUBAGENT_STARTED, subagentRunId: "subagent-0", name: "planner" },
  eventExamples.MESSAGES_SNAPSHOT,
  eventExamples.SUBAGENT_STARTED,
  eventExamples.STEP_STARTED,
  eventExamples.STATE_SNAPSHOT,
  eventExamples.STATE_DELTA,
  eventExamples.REASONING_START,
  eventExamples.REASONING_MESSAGE_START,
  eventExamples.REASONING_MESSAGE_CONTENT,
  eventExamples.REASONING_MESSAGE_END,
  eventExamples.REASONING_ENCRYPTED_VALUE,
  eventExamples.REASONING_END,
  eventExamples.TEXT_MESSAGE_START,
  eventExamples.TEXT_MESSAGE_CONTENT,
  { ...eventExamples.TEXT_MESSAGE_CONTENT, delta: "and no more." },
  eventExamples.TEXT_MESSAGE_END,
  eventExamples.TOOL_CALL_START,
  eventExamples.TOOL_CALL_ARGS,
  eventExamples.TOOL_CALL_END,
  eventExamples.TOOL_CALL_RESULT,
  eventExamples.ACTIVITY_SNAPSHOT,
  eventExamples.ACTIVITY_DELTA,
  eventExamples.RAW,
  eventExamples.CUSTOM,
  eventExamples.STEP_FINISHED,
  eventExamples.SUBAGENT_FINISHED,
  eventExamples.SUBAGENT_ERROR,
  { type: EventType.STEP_STARTED, stepName: "answer" },
  { type: EventType.TOOL_CALL_START, toolCallId: "call-2", toolCallName: "ask" },
  { type: EventType.TOOL_CALL_ARGS, toolCallId: "call-2", delta: "{}" },
  { type: EventType.TOOL_CALL_END, toolCallId: "call-2" },
  { type: EventType.STEP_FINISHED, stepName: "answer" },
  eventExamples.RUN_FINISHED,
];
