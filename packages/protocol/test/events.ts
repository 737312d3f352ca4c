import { EventType } from "@holodeck/agui-core";
import type { BaseEvent, LogEntry } from "@holodeck/agui-core";

/** What every event may carry. */
const base = {
  timestamp: 1_700_000_000_123,
  rawEvent: { provider: { id: 1, list: [null, true, "x"] } },
  metadata: { tenant: "acme", "ag-ui": { trace_id: "t-1" } },
};
const owned = { ...base, subagentRunId: "sub-1" };
const usage = [
  {
    provider: "openai",
    model: "gpt",
    inputTokens: 12,
    outputTokens: 3,
    totalTokens: 15,
    reasoningTokens: 1,
    cachedInputTokens: 4,
    cacheWriteInputTokens: 2,
  },
];
const parts = [
  { type: "text", id: "p-1", text: "It is ", metadata: { lang: "en" } },
  {
    type: "image",
    id: "p-2",
    source: { type: "data", value: "AAAA", mimeType: "image/png" },
    metadata: { alt: "a map" },
  },
  { type: "audio", source: { type: "url", value: "https://x.test/a.mp3", mimeType: "audio/mpeg" } },
  { type: "video", source: { type: "url", value: "https://x.test/v.mp4" } },
  {
    type: "document",
    source: { type: "file", value: "f-1", provider: "openai", mimeType: "application/pdf" },
  },
  { type: "text", text: "sunny." },
];
const patch = [
  { op: "add", path: "/a_b", value: { deep_key: [1, null] } },
  { op: "replace", path: "/c", value: "x" },
  { op: "remove", path: "/d" },
  { op: "move", from: "/e", path: "/f" },
  { op: "copy", from: "/f", path: "/g" },
  { op: "test", path: "/h", value: false },
];
const messages = [
  { id: "m-1", role: "system", content: "Be kind.", name: "sys", metadata: { a: 1 } },
  { id: "m-2", role: "developer", content: "Be brief.", encryptedValue: "enc" },
  { id: "m-3", role: "user", content: parts, name: "Ada", subagentRunId: "sub-1" },
  {
    id: "m-4",
    role: "assistant",
    content: "Let me look.",
    toolCalls: [
      {
        id: "c-1",
        type: "function",
        function: { name: "weather", arguments: '{"city_name":"Rome"}' },
        encryptedValue: "enc",
        metadata: { k: "v" },
      },
    ],
  },
  { id: "m-5", role: "tool", toolCallId: "c-1", content: parts, error: "partial" },
  { id: "m-6", role: "activity", activityType: "PLAN", content: { steps_done: 1 } },
  { id: "m-7", role: "reasoning", content: "Hm.", encryptedValue: "enc" },
];
const interrupt = {
  id: "i-1",
  reason: "confirmation",
  message: "Send it?",
  toolCallId: "c-1",
  responseSchema: { type: "object", properties: { is_ok: { type: "boolean" } } },
  expiresAt: "2030-01-01T00:00:00Z",
  metadata: { k: 1 },
  subagentRunId: "sub-1",
};

/** Every kind of event with every field it has, by a name that says what is special about it. */
export const samples: Readonly<Record<string, BaseEvent>> = {
  "run started": {
    ...base,
    type: EventType.RUN_STARTED,
    threadId: "t-1",
    runId: "r-1",
    protocolVersion: "1.0",
    parentRunId: "r-0",
    input: {
      threadId: "t-1",
      runId: "r-1",
      protocolVersion: "1.0",
      parentRunId: "r-0",
      state: { snake_key: 1 },
      messages,
      tools: [{ name: "t", description: "d", parameters: { type: "object" }, metadata: { x: 1 } }],
      context: [{ description: "now", value: "noon" }],
      forwardedProps: { some_prop: 1 },
      resume: [{ interruptId: "i-0", status: "resolved", payload: { ok: 1 }, metadata: { m: 1 } }],
    },
  },
  "run finished": {
    ...base,
    type: EventType.RUN_FINISHED,
    threadId: "t-1",
    runId: "r-1",
    result: { answer_text: "42", list: [1, null] },
    outcome: { type: "success", pendingToolCallIds: ["c-1", "c-2"] },
    usage,
  },
  "run finished with an interrupt": {
    type: EventType.RUN_FINISHED,
    threadId: "t-1",
    runId: "r-1",
    outcome: { type: "interrupt", interrupts: [interrupt] },
  },
  "run finished as cancelled": {
    type: EventType.RUN_FINISHED,
    threadId: "t-1",
    runId: "r-1",
    outcome: { type: "cancelled" },
    usage,
  },
  "run error": { ...base, type: EventType.RUN_ERROR, message: "No.", code: "timeout", usage },
  "step started": { ...owned, type: EventType.STEP_STARTED, stepName: "plan" },
  "step finished": { ...owned, type: EventType.STEP_FINISHED, stepName: "plan" },
  "text start": {
    ...owned,
    type: EventType.TEXT_MESSAGE_START,
    messageId: "m-1",
    role: "assistant",
    name: "Ada",
  },
  "text content": {
    ...owned,
    type: EventType.TEXT_MESSAGE_CONTENT,
    messageId: "m-1",
    delta: 'line\r\n\n"ü😀\u2028',
  },
  "empty text content": { type: EventType.TEXT_MESSAGE_CONTENT, messageId: "m-1", delta: "" },
  "text end": { ...owned, type: EventType.TEXT_MESSAGE_END, messageId: "m-1" },
  "text chunk": {
    ...owned,
    type: EventType.TEXT_MESSAGE_CHUNK,
    messageId: "m-1",
    role: "user",
    delta: "d",
    name: "n",
  },
  "tool start": {
    ...owned,
    type: EventType.TOOL_CALL_START,
    toolCallId: "c-1",
    toolCallName: "weather",
    parentMessageId: "m-1",
  },
  "tool args": { ...owned, type: EventType.TOOL_CALL_ARGS, toolCallId: "c-1", delta: '{"a_b":' },
  "empty tool args": { type: EventType.TOOL_CALL_ARGS, toolCallId: "c-1", delta: "" },
  "tool end": { ...owned, type: EventType.TOOL_CALL_END, toolCallId: "c-1" },
  "tool chunk": {
    ...owned,
    type: EventType.TOOL_CALL_CHUNK,
    toolCallId: "c-1",
    toolCallName: "weather",
    parentMessageId: "m-1",
    delta: "{",
  },
  "tool result": {
    ...owned,
    type: EventType.TOOL_CALL_RESULT,
    messageId: "m-2",
    toolCallId: "c-1",
    content: "sunny",
    role: "tool",
  },
  "tool result of parts": {
    type: EventType.TOOL_CALL_RESULT,
    messageId: "m-2",
    toolCallId: "c-1",
    content: parts,
  },
  "state snapshot": {
    ...owned,
    type: EventType.STATE_SNAPSHOT,
    snapshot: { snake_key: { nested_key: [1, 0.5, null, false, "", {}] } },
  },
  "null state snapshot": { type: EventType.STATE_SNAPSHOT, snapshot: null },
  "state delta": { ...owned, type: EventType.STATE_DELTA, delta: patch },
  "messages snapshot": { ...base, type: EventType.MESSAGES_SNAPSHOT, messages },
  "activity snapshot": {
    ...owned,
    type: EventType.ACTIVITY_SNAPSHOT,
    messageId: "a-1",
    activityType: "AGENT_EXECUTION",
    content: { agent_id: "x", progress: 0.5 },
    replace: false,
  },
  "activity delta": {
    ...owned,
    type: EventType.ACTIVITY_DELTA,
    messageId: "a-1",
    activityType: "AGENT_EXECUTION",
    patch,
  },
  raw: { ...owned, type: EventType.RAW, event: { any_thing: [null] }, source: "openai" },
  custom: { ...owned, type: EventType.CUSTOM, name: "PredictState", value: [{ state_key: "d" }] },
  "null custom": { type: EventType.CUSTOM, name: "ping", value: null },
  "reasoning start": { ...owned, type: EventType.REASONING_START, messageId: "r-1" },
  "reasoning message start": {
    ...owned,
    type: EventType.REASONING_MESSAGE_START,
    messageId: "r-2",
    role: "reasoning",
  },
  "reasoning content": {
    ...owned,
    type: EventType.REASONING_MESSAGE_CONTENT,
    messageId: "r-2",
    delta: "hm",
  },
  "empty reasoning content": {
    type: EventType.REASONING_MESSAGE_CONTENT,
    messageId: "r-2",
    delta: "",
  },
  "reasoning message end": { ...owned, type: EventType.REASONING_MESSAGE_END, messageId: "r-2" },
  "reasoning chunk": {
    ...owned,
    type: EventType.REASONING_MESSAGE_CHUNK,
    messageId: "r-2",
    delta: "hm",
  },
  "reasoning end": { ...owned, type: EventType.REASONING_END, messageId: "r-1" },
  "reasoning encrypted": {
    ...owned,
    type: EventType.REASONING_ENCRYPTED_VALUE,
    subtype: "tool-call",
    entityId: "c-1",
    encryptedValue: "enc",
  },
  "subagent started": {
    ...base,
    type: EventType.SUBAGENT_STARTED,
    subagentRunId: "sub-2",
    name: "researcher",
    description: "reads",
    parentSubagentRunId: "sub-1",
    parentToolCallId: "c-1",
    parentMessageId: "m-1",
  },
  "subagent finished": {
    ...base,
    type: EventType.SUBAGENT_FINISHED,
    subagentRunId: "sub-2",
    result: { found_it: true },
    outcome: { type: "success" },
  },
  "subagent suspended": {
    type: EventType.SUBAGENT_FINISHED,
    subagentRunId: "sub-2",
    outcome: { type: "suspended", interruptIds: ["i-1"] },
  },
  "subagent error": {
    ...base,
    type: EventType.SUBAGENT_ERROR,
    subagentRunId: "sub-2",
    message: "lost",
    code: "tool-error",
  },
};

/** The samples as rows of a table test. */
export const sampleRows: [string, BaseEvent][] = Object.entries(samples);

/** One entry of a log. */
export function entry(event: BaseEvent, to = 1): LogEntry {
  return { from: to, to, at: 0, event };
}

/** An event that is none, as an agent in plain JavaScript might make it. */
export function odd(members: Record<string, unknown>): BaseEvent {
  return { type: EventType.RAW, ...members };
}

/** A whole log, numbered from 1. */
export function log(events: readonly BaseEvent[]): LogEntry[] {
  return events.map((event, index) => entry(event, index + 1));
}

/** What JSON makes of a value: the view of a client. */
export function asJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}
