import { EventType } from "@ag-ui/core";
import type { BaseEvent, Message, RunAgentInput } from "@ag-ui/core";
import { openRun, toolCallsOf } from "./context.ts";
import { AgentError } from "../contract/errors.ts";
import { answeredIn, callsIn } from "../base/calls-in.ts";
import { ulid } from "../base/ids.ts";
import { isEqualJson } from "../json/copy.ts";
import { createReducer } from "../view/reducer.ts";
import { toVerdict } from "../tools/approval.ts";
import type { SettledCall } from "../tools/answers.ts";
import type { AnsweredCall, LostCall, ToolCalls } from "../tools/calls.ts";
import type { Settled, RunTools } from "../tools/run-tools.ts";
import type { RunContext } from "../contract/context.ts";
import type { AskedCall, TakenCall } from "../contract/tools.ts";

/**
 * Makes the calls that people have answered, then starts the agent with their results in its input. The
 * approval of a call does not depend on an agent that makes the call again.
 */
export function startSettled(
  agent: object,
  run: { readonly input: RunAgentInput; readonly context: RunContext },
  start: (input: RunAgentInput) => unknown,
): unknown {
  const { input, context } = run;
  const calls = toolCallsOf(context);
  const { desk } = calls;
  // An agent that another one starts in the same run receives the input that the other gives it.
  desk.settledFor ??= agent;
  if (desk.settledFor !== agent) return start(input);
  if (desk.settling) {
    openRun(context);
    return startAfter(desk, run, start);
  }
  const answered = toAnswered(desk, context);
  const lost = toLost(desk);
  if (answered.length === 0 && lost.length === 0) return start(input);
  openRun(context);
  // Once in a run, also where middleware starts the agent again.
  desk.settling = settle(calls, answered, lost);
  return startAfter(desk, run, start);
}

async function startAfter(
  desk: RunTools,
  { input, context }: { readonly input: RunAgentInput; readonly context: RunContext },
  start: (input: RunAgentInput) => unknown,
): Promise<unknown> {
  const settled = await desk.settling!;
  if (context.signal.aborted) return undefined;
  const messages = withSettled(input.messages, settled);
  const started = start({ ...withoutUsed(input, desk), messages });
  // In a promise an array would be the result of the run and not what the agent sends.
  return isPlainIterable(started) ? iterate(started) : started;
}

// An agent that passes its input on to another server would answer there what was not asked there.
function withoutUsed(input: RunAgentInput, { answers, settled }: RunTools): RunAgentInput {
  const { resume, ...rest } = input;
  if (!resume) return input;
  const used = new Set(
    answers.flatMap(({ call, interrupt }) => (call && settled.has(call.id) ? interrupt.id : [])),
  );
  const left = resume.filter(({ interruptId }) => !used.has(interruptId));
  return left.length === 0 ? rest : { ...rest, resume: left };
}

async function settle(
  calls: ToolCalls,
  answered: readonly AnsweredCall[],
  missing: readonly LostCall[],
): Promise<Settled> {
  const { settled } = calls.desk;
  // A tool may call others: what is about to be made here is made here only.
  for (const { id } of answered) settled.set(id, undefined);
  const lost: SettledCall[] = [];
  for (const one of missing) lost.push(await calls.refuse(one, toLostCallError(one)));
  const made = await calls.callAnswered(answered);
  for (const one of made) settled.set(one.call.id, one);
  return { lost, made };
}

function toAnswered(desk: RunTools, context: RunContext): readonly AnsweredCall[] {
  const open = createOpener(desk.history);
  return desk.answers.flatMap((answer): AnsweredCall[] => {
    const { call } = answer;
    const tool = call && context.tools.find(({ name }) => name === call.name);
    // What an agent brought along it makes itself.
    if (!call || !tool || call.owner === "agent" || desk.used.has(call.id)) return [];
    const { id, name, args } = call;
    return [{ id, name, args, tool, verdict: toVerdict(call, answer), opening: open(call) }];
  });
}

function toLost({ lost, history }: RunTools): readonly LostCall[] {
  const open = createOpener(history);
  const answered = answeredIn(history);
  return lost
    .filter(({ id }) => !answered.has(id))
    .map((call): LostCall => ({ ...call, opening: open(call) }));
}

/** The error of a call whose process ended before there was a result. */
export function toLostCallError({ name, isApproved }: TakenCall): AgentError {
  return isApproved
    ? new AgentError(
        "run-lost",
        `The server process that ran "${name}" ended before it returned a result. The call may have been executed in part.`,
      )
    : new AgentError("approval-denied", `The user did not allow "${name}".`);
}

// The events of calls that the thread lacks, under one message.
function createOpener(history: readonly Message[]): (call: AskedCall) => readonly BaseEvent[] {
  let parentMessageId: string | undefined;
  return (call) => {
    if (hasCall(history, call.id)) return [];
    return toOpening(call, (parentMessageId ??= ulid()));
  };
}

function toOpening({ id, name, args }: AskedCall, parentMessageId: string): BaseEvent[] {
  const toolCallId = id;
  return [
    { type: EventType.TOOL_CALL_START, toolCallId, toolCallName: name, parentMessageId },
    { type: EventType.TOOL_CALL_ARGS, toolCallId, delta: JSON.stringify(args) ?? "{}" },
    { type: EventType.TOOL_CALL_END, toolCallId },
  ];
}

/** The messages with each settled call as it was made, and its result right after it. */
function withSettled(messages: readonly Message[], { lost, made }: Settled): Message[] {
  const asked = new Map([...lost, ...made].map(({ call }) => [call.id, call]));
  const known = messages
    .filter((message) => message.role !== "tool" || !asked.has(message.toolCallId))
    .map((message) => withCalls(message, asked));
  // A lost call belongs before the user's new message.
  const end = known.length > 1 && known.at(-1)?.role === "user" ? -1 : known.length;
  const past = [...fold(known.slice(0, end), lost), ...known.slice(end)];
  return [...fold(past, made)];
}

function fold(messages: readonly Message[], settled: readonly SettledCall[]): readonly Message[] {
  if (settled.length === 0) return messages;
  const reducer = createReducer(messages);
  const open = createOpener(messages);
  for (const { call, events } of settled) {
    const opening = hasCall(messages, call.id) ? [] : events.filter(isOpening);
    for (const event of opening.length > 0 ? opening : open(call)) reducer.apply(event);
    // A run that was stopped has no result.
    for (const event of events) if (!isOpening(event)) reducer.apply(event);
  }
  return reducer.messages;
}

function isOpening({ type }: BaseEvent): boolean {
  return type !== EventType.TOOL_CALL_RESULT;
}

// What was asked about is what was made, whatever a client or a middleware shows of it.
function withCalls(message: Message, asked: ReadonlyMap<string, AskedCall>): Message {
  if (message.role !== "assistant" || !message.toolCalls?.some(({ id }) => asked.has(id))) {
    return message;
  }
  const toolCalls = message.toolCalls.map((call) => {
    const made = asked.get(call.id);
    if (!made || isAsMade(call.function, made)) return call;
    return { ...call, function: { name: made.name, arguments: JSON.stringify(made.args) } };
  });
  return { ...message, toolCalls };
}

function isAsMade(shown: { name: string; arguments: string }, made: AskedCall): boolean {
  if (shown.name !== made.name) return false;
  try {
    return isEqualJson(JSON.parse(shown.arguments || "{}"), made.args);
  } catch {
    return false;
  }
}

function hasCall(messages: readonly Message[], callId: string): boolean {
  return messages.some((message) => callsIn(message).some(({ id }) => id === callId));
}

function isPlainIterable(value: unknown): value is Iterable<unknown> {
  if (typeof value !== "object" || value === null || !(Symbol.iterator in value)) return false;
  return !("then" in value || "subscribe" in value || Symbol.asyncIterator in value);
}

function* iterate(values: Iterable<unknown>): Generator<unknown, unknown> {
  return yield* values;
}
