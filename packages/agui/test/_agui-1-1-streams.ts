// Cases for agui-1-1.test.ts. Data, hence longer than our usual file.
import type { BaseEvent, Json } from "@holodeck/agui-core";

/** What an agent sends, and what a client of AG-UI 1.1 has of it afterwards. */
export interface StreamCase {
  readonly name: string;
  /** Without RUN_STARTED and RUN_FINISHED where the case is not about them. */
  readonly stream: readonly Json[];
  /** The messages after the question, each in the parts that the case is about. */
  readonly messages?: readonly Json[];
  /** What no message has. */
  readonly absent?: string;
  /** The last state. */
  readonly state?: unknown;
  /** What the guard repairs: nothing in a stream that keeps the rules. */
  readonly repairs?: readonly string[];
  /** The type of the last event, and what it has. */
  readonly end?: Json;
  /** Types of all events between the first and the last, where their order is the case. */
  readonly types?: readonly string[];
  /** What the messages are for a client of 0.0.x, where it differs. */
  readonly messagesBefore10?: readonly Json[];
}

/** What the user asked. */
export const question = { id: "q", role: "user" as const, content: "Hi" };

const text = (messageId: string, ...deltas: readonly string[]): Json[] => [
  { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
  ...deltas.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId, delta })),
  { type: "TEXT_MESSAGE_END", messageId },
];
const said = (id: string, content: string): Json => ({ id, role: "assistant", content });
const call = (toolCallId: string, name: string, ...args: readonly string[]): Json[] => [
  { type: "TOOL_CALL_START", toolCallId, toolCallName: name },
  ...args.map((delta) => ({ type: "TOOL_CALL_ARGS", toolCallId, delta })),
  { type: "TOOL_CALL_END", toolCallId },
];
const thought = (messageId: string, delta: string): Json[] => [
  { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
  { type: "REASONING_MESSAGE_CONTENT", messageId, delta },
  { type: "REASONING_MESSAGE_END", messageId },
];
const encrypted = (entityId: string, value: string, more: Json = {}): Json => ({
  type: "REASONING_ENCRYPTED_VALUE",
  subtype: "message",
  entityId,
  encryptedValue: value,
  ...more,
});
const chunk = (delta: string, more: Json = {}): Json => ({
  type: "TEXT_MESSAGE_CHUNK",
  delta,
  ...more,
});
const state = (snapshot: unknown): Json => ({ type: "STATE_SNAPSHOT", snapshot });
const patch = (...delta: readonly Json[]): Json => ({ type: "STATE_DELTA", delta });
const plan = { messageId: "plan", activityType: "PLAN" };
const helper = { subagentRunId: "sub" };
const announced = { type: "SUBAGENT_STARTED", name: "helper", ...helper };
const done = { type: "SUBAGENT_FINISHED", ...helper };

const textAndTools: readonly StreamCase[] = [
  { name: "a whole message", stream: text("m", "He", "llo"), messages: [said("m", "Hello")] },
  {
    name: "a message that is opened again goes on",
    stream: [...text("m", "one"), ...text("m", " two")],
    messages: [said("m", "one two")],
  },
  {
    name: "chunks: the first has the id, the end of the run closes them",
    stream: [chunk("one ", { messageId: "m", role: "assistant" }), chunk("two")],
    messages: [said("m", "one two")],
    types: [
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
    ],
  },
  {
    name: "chunks that repeat their id and role",
    stream: ["one ", "two"].map((delta) => chunk(delta, { messageId: "m", role: "assistant" })),
    messages: [said("m", "one two")],
  },
  {
    name: "RAW between chunks does not close them",
    stream: [chunk("one ", { messageId: "m" }), { type: "RAW", event: { a: 1 } }, chunk("two")],
    messages: [said("m", "one two")],
  },
  {
    name: "CUSTOM between chunks closes them, and a chunk without an id begins another message",
    stream: [
      chunk("one", { messageId: "m" }),
      { type: "CUSTOM", name: "note", value: 1 },
      chunk("two", { messageId: "n" }),
    ],
    messages: [said("m", "one"), said("n", "two")],
  },
  {
    name: "a chunk with another role than its message",
    stream: [
      chunk("one ", { messageId: "m", role: "assistant" }),
      chunk("two", { messageId: "m", role: "user" }),
    ],
    messages: [said("m", "one two")],
    repairs: ["chunk-conflict"],
  },
  {
    name: "a chunk with another name than its call",
    stream: [
      { type: "TOOL_CALL_CHUNK", toolCallId: "c", toolCallName: "find", delta: "{" },
      { type: "TOOL_CALL_CHUNK", toolCallId: "c", toolCallName: "lose", delta: "}" },
    ],
    messages: [{ role: "assistant", toolCalls: [{ id: "c", function: { name: "find" } }] }],
    repairs: ["chunk-conflict"],
  },
  {
    name: "a call with its arguments in pieces, and its result",
    stream: [
      ...call("c", "find", '{"q":', '"x"}'),
      { type: "TOOL_CALL_RESULT", messageId: "r", toolCallId: "c", content: "found" },
    ],
    messages: [
      { toolCalls: [{ id: "c", function: { name: "find", arguments: '{"q":"x"}' } }] },
      { id: "r", role: "tool", toolCallId: "c", content: "found" },
    ],
  },
  {
    name: "a result of parts, one of them a file at the provider",
    stream: [
      ...call("c", "read", "{}"),
      {
        type: "TOOL_CALL_RESULT",
        messageId: "r",
        toolCallId: "c",
        content: [
          { type: "text", text: "a page" },
          { type: "document", source: { type: "file", value: "file-1", provider: "some" } },
        ],
      },
    ],
    messages: [
      { toolCalls: [{ id: "c" }] },
      {
        role: "tool",
        content: [
          { type: "text", text: "a page" },
          { type: "document", source: { type: "file", value: "file-1", provider: "some" } },
        ],
      },
    ],
    messagesBefore10: [{ toolCalls: [{ id: "c" }] }, { role: "tool", content: "a page" }],
  },
  {
    name: "content of a message that was never opened",
    stream: [{ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "lost" }],
    messages: [said("m", "lost")],
    repairs: ["not-started"],
  },
  {
    name: "a message that is open at the end",
    stream: text("m", "half").slice(0, -1),
    messages: [said("m", "half")],
    repairs: ["left-open"],
  },
  {
    name: "a first chunk without an id",
    stream: [chunk("one")],
    messages: [{ role: "assistant", content: "one" }],
  },
];

const valuesAndReasoning: readonly StreamCase[] = [
  {
    name: "reasoning in its span",
    stream: [
      { type: "REASONING_START", messageId: "span" },
      ...thought("t", "Hm."),
      { type: "REASONING_END", messageId: "span" },
      ...text("m", "Yes."),
    ],
    messages: [{ id: "t", role: "reasoning", content: "Hm." }, said("m", "Yes.")],
  },
  {
    name: "a thought that nothing opened",
    stream: [{ type: "REASONING_MESSAGE_CONTENT", messageId: "t", delta: "Hm." }],
    messages: [{ id: "t", role: "reasoning", content: "Hm." }],
    repairs: ["not-started"],
  },
  {
    name: "the end of a span that nothing opened",
    stream: [{ type: "REASONING_END", messageId: "span" }, ...text("m", "Yes.")],
    messages: [said("m", "Yes.")],
    repairs: ["not-open"],
  },
  {
    name: "THINKING of 0.0.x",
    stream: [
      { type: "THINKING_START" },
      { type: "THINKING_TEXT_MESSAGE_START" },
      { type: "THINKING_TEXT_MESSAGE_CONTENT", delta: "Hm." },
      { type: "THINKING_TEXT_MESSAGE_END" },
      { type: "THINKING_END" },
    ],
    messages: [{ role: "reasoning", content: "Hm." }],
    repairs: ["legacy-thinking"],
  },
  {
    name: "an encrypted value of a message, with its type",
    stream: [...thought("t", "Hm."), encrypted("t", "b25l", { encryptedValueType: "a.redacted" })],
    messages: [
      { id: "t", role: "reasoning", encryptedValue: "b25l", encryptedValueType: "a.redacted" },
    ],
  },
  {
    name: "an encrypted value of a call, with its type",
    stream: [
      ...call("c", "find", "{}"),
      encrypted("c", "b25l", { subtype: "tool-call", encryptedValueType: "a.signature" }),
    ],
    messages: [
      { toolCalls: [{ id: "c", encryptedValue: "b25l", encryptedValueType: "a.signature" }] },
    ],
  },
  {
    name: "a later value replaces value and type",
    stream: [
      ...thought("t", "Hm."),
      encrypted("t", "b25l", { encryptedValueType: "a.one" }),
      encrypted("t", "dHdv", { encryptedValueType: "a.two" }),
    ],
    messages: [{ id: "t", encryptedValue: "dHdv", encryptedValueType: "a.two" }],
  },
  {
    name: "a later value without a type takes the type away",
    stream: [
      ...thought("t", "Hm."),
      encrypted("t", "b25l", { encryptedValueType: "a.one" }),
      encrypted("t", "dHdv"),
    ],
    messages: [{ id: "t", encryptedValue: "dHdv" }],
    absent: "encryptedValueType",
  },
  {
    name: "a snapshot restates a message without the value",
    stream: [
      ...text("m", "Yes."),
      encrypted("m", "b25l", { encryptedValueType: "a.one" }),
      { type: "MESSAGES_SNAPSHOT", messages: [question, said("m", "Yes.")] },
    ],
    messages: [said("m", "Yes.")],
    absent: "encrypted",
  },
  {
    name: "a snapshot with values and types, of a message and its call",
    stream: [
      {
        type: "MESSAGES_SNAPSHOT",
        messages: [
          question,
          {
            ...said("m", "Yes."),
            encryptedValue: "b25l",
            encryptedValueType: "a.one",
            toolCalls: [
              {
                id: "c",
                type: "function",
                function: { name: "find", arguments: "{}" },
                encryptedValue: "dHdv",
                encryptedValueType: "a.two",
              },
            ],
          },
        ],
      },
    ],
    messages: [
      {
        id: "m",
        encryptedValue: "b25l",
        encryptedValueType: "a.one",
        toolCalls: [{ encryptedValue: "dHdv", encryptedValueType: "a.two" }],
      },
    ],
  },
  {
    name: "a type without a value is none",
    stream: [
      {
        type: "MESSAGES_SNAPSHOT",
        messages: [question, { ...said("m", "Yes."), encryptedValueType: "a.one" }],
      },
    ],
    messages: [said("m", "Yes.")],
    absent: "encrypted",
    repairs: ["missing-field"],
  },
  {
    name: "an encrypted value of nothing that is known",
    stream: [...text("m", "Yes."), encrypted("gone", "b25l", { encryptedValueType: "a.one" })],
    messages: [said("m", "Yes.")],
  },
];

const stateAndActivities: readonly StreamCase[] = [
  { name: "a snapshot replaces the state", stream: [state({ a: 1 }), state([2])], state: [2] },
  { name: "a state that is null", stream: [state({ a: 1 }), state(null)], state: null },
  { name: "a state that is false", stream: [state({ a: 1 }), state(false)], state: false },
  {
    name: "a delta",
    stream: [state({ list: [1] }), patch({ op: "add", path: "/list/-", value: 2 })],
    state: { list: [1, 2] },
  },
  {
    name: "a delta whose operation has members of others",
    stream: [state({ a: 1, b: 2 }), patch({ op: "remove", path: "/a", value: "left over" })],
    state: { b: 2 },
  },
  {
    name: "a delta that does not apply leaves the state",
    stream: [state({ a: 1 }), patch({ op: "remove", path: "/none" })],
    state: { a: 1 },
    repairs: ["state-delta"],
  },
  {
    name: "a delta with an operation that does not exist",
    stream: [state({ a: 1 }), patch({ op: "increment", path: "/a", value: 1 })],
    state: { a: 1 },
    repairs: ["malformed"],
  },
  {
    name: "an activity and its change",
    stream: [
      { type: "ACTIVITY_SNAPSHOT", ...plan, content: { steps: [] } },
      {
        type: "ACTIVITY_DELTA",
        ...plan,
        patch: [{ op: "add", path: "/steps/-", value: "look" }],
      },
    ],
    messages: [{ id: "plan", role: "activity", content: { steps: ["look"] } }],
  },
  {
    name: "an activity that is not to be replaced",
    stream: [
      { type: "ACTIVITY_SNAPSHOT", ...plan, content: { steps: ["one"] } },
      { type: "ACTIVITY_SNAPSHOT", ...plan, content: { steps: [] }, replace: false },
    ],
    messages: [{ id: "plan", content: { steps: ["one"] } }],
  },
  {
    name: "a snapshot of messages replaces by id and drops the others",
    stream: [
      ...text("m", "draft"),
      ...text("n", "gone"),
      { type: "MESSAGES_SNAPSHOT", messages: [question, said("m", "final")] },
    ],
    messages: [said("m", "final")],
  },
  {
    name: "metadata merges by key, the last one wins, and does not recurse",
    stream: [
      {
        type: "TEXT_MESSAGE_START",
        messageId: "m",
        role: "assistant",
        metadata: { a: 1, b: 1, list: [1, 2] },
      },
      {
        type: "TEXT_MESSAGE_CONTENT",
        messageId: "m",
        delta: "Yes.",
        metadata: { b: 2, list: [3] },
      },
      { type: "TEXT_MESSAGE_END", messageId: "m" },
    ],
    messages: [{ id: "m", metadata: { a: 1, b: 2, list: [3] } }],
    messagesBefore10: [{ id: "m" }],
  },
  {
    name: "metadata of a call",
    stream: call("c", "find", "{}").map((event) => ({ ...event, metadata: { trace: "x" } })),
    messages: [{ toolCalls: [{ id: "c", metadata: { trace: "x" } }] }],
    messagesBefore10: [{ toolCalls: [{ id: "c" }] }],
  },
];

const subagentsAndEnds: readonly StreamCase[] = [
  {
    name: "the end of a subagent closes its chunks",
    stream: [
      announced,
      chunk("half ", { messageId: "m", role: "assistant", ...helper }),
      chunk("done", helper),
      done,
    ],
    messages: [{ ...said("m", "half done"), ...helper }],
    types: [
      "SUBAGENT_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "SUBAGENT_FINISHED",
    ],
  },
  {
    name: "a message of a subagent that was not announced",
    stream: text("m", "Yes.").map((event) => ({ ...event, ...helper })),
    messages: [{ ...said("m", "Yes."), ...helper }],
  },
  {
    name: "a delta that another subagent claims",
    stream: [
      announced,
      { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant", ...helper },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "Yes.", subagentRunId: "other" },
      { type: "TEXT_MESSAGE_END", messageId: "m", ...helper },
      done,
    ],
    messages: [{ ...said("m", "Yes."), ...helper }],
    repairs: ["wrong-owner"],
  },
  {
    name: "the end of a subagent that never began",
    stream: [done, ...text("m", "Yes.")],
    messages: [said("m", "Yes.")],
    repairs: ["not-open"],
  },
  {
    name: "a subagent without a name",
    stream: [{ type: "SUBAGENT_STARTED", ...helper }, done],
    repairs: ["missing-field"],
  },
  {
    name: "a subagent that is at work at the end",
    stream: [announced],
    repairs: ["left-open"],
  },
  {
    name: "a step that ends without a beginning",
    stream: [{ type: "STEP_FINISHED", stepName: "look" }],
    repairs: ["not-open"],
  },
  {
    name: "an end with an interrupt",
    stream: [
      {
        type: "RUN_FINISHED",
        outcome: { type: "interrupt", interrupts: [{ id: "i", reason: "confirmation" }] },
      },
    ],
    end: { type: "RUN_FINISHED", outcome: { type: "interrupt", interrupts: [{ id: "i" }] } },
  },
  {
    name: "an end that was cancelled",
    stream: [{ type: "RUN_FINISHED", outcome: { type: "cancelled" } }],
    end: { type: "RUN_FINISHED", outcome: { type: "cancelled" } },
  },
  {
    name: "an outcome that does not exist",
    stream: [{ type: "RUN_FINISHED", outcome: { type: "postponed" } }],
    end: { type: "RUN_FINISHED" },
    repairs: ["wrong-type"],
  },
  {
    name: "an outcome that is a list",
    stream: [{ type: "RUN_FINISHED", outcome: [] }],
    end: { type: "RUN_FINISHED" },
    repairs: ["wrong-type"],
  },
  {
    name: "an event after the end",
    stream: [{ type: "RUN_FINISHED" }, ...text("m", "late")],
    messages: [],
    end: { type: "RUN_FINISHED" },
    repairs: ["after-end"],
  },
  {
    name: "an error after the end",
    stream: [{ type: "RUN_FINISHED" }, { type: "RUN_ERROR", message: "late" }],
    end: { type: "RUN_FINISHED" },
    repairs: ["after-end"],
  },
  {
    name: "an error before anything else",
    stream: [{ type: "RUN_ERROR", message: "no" }],
    end: { type: "RUN_ERROR", message: "no" },
  },
];

const processing: readonly StreamCase[] = [
  {
    name: "a second beginning",
    stream: [{ type: "RUN_STARTED" }, { type: "RUN_STARTED" }, ...text("m", "Yes.")],
    messages: [said("m", "Yes.")],
    repairs: ["run-started"],
  },
  {
    name: "an event that AG-UI does not have",
    stream: [{ type: "HOLOGRAM", beam: 1 }, ...text("m", "Yes.")],
    messages: [said("m", "Yes.")],
    repairs: ["unknown-type"],
  },
  {
    name: "RAW and CUSTOM",
    stream: [
      { type: "RAW", event: { any: "thing" }, source: "elsewhere" },
      { type: "CUSTOM", name: "note", value: [null, 1] },
    ],
    types: ["RAW", "CUSTOM"],
  },
  {
    name: "metadata with members of its own",
    stream: text("m", "Yes.").map((event) => ({ ...event, metadata: { own: { deep: [1] } } })),
    messages: [{ id: "m", metadata: { own: { deep: [1] } } }],
    messagesBefore10: [{ id: "m" }],
  },
  {
    name: "an id that is a number",
    stream: text("7", "Yes.").map((event) => ({ ...event, messageId: 7 })),
    messages: [said("7", "Yes.")],
    repairs: ["wrong-type"],
  },
  {
    name: "a role that does not exist",
    stream: [{ ...text("m")[0], role: "oracle" }, ...text("m", "Yes.").slice(1)],
    messages: [said("m", "Yes.")],
    repairs: ["wrong-type"],
  },
  {
    name: "a thought with the role of an answer",
    stream: [{ ...thought("t", "")[0], role: "assistant" }, ...thought("t", "Hm.").slice(1)],
    messages: [{ id: "t", role: "reasoning", content: "Hm." }],
    repairs: ["wrong-type"],
  },
];

/** The rules that the streams of AG-UI 1.1's conformance corpus are about, in streams of our own. */
export const streamCases: readonly StreamCase[] = [
  ...textAndTools,
  ...valuesAndReasoning,
  ...stateAndActivities,
  ...subagentsAndEnds,
  ...processing,
];

/** The events of a case as an agent yields them. */
export function agentOutput({ stream }: StreamCase): BaseEvent[] {
  return stream as unknown as BaseEvent[];
}
