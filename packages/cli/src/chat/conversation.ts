import type { BaseEvent, Interrupt, Message, ResumeEntry, RunAgentInput, Tool } from "@ag-ui/core";
import { createGuard, createReducer, EventType, PROTOCOL_VERSION, ulid } from "@holodeck/agui-core";
import { createStateTracker } from "@holodeck/agui-core/internal";

/** What is asked for next. */
export interface TurnInput {
  readonly text?: string;
  readonly resume?: readonly ResumeEntry[];
}

/** A run under way: events go in as they come, and come out in order and whole. */
interface RunFold {
  readonly input: RunAgentInput;
  push(event: BaseEvent): void;
  /** Ends what is open; for a run that broke off or was stopped. */
  cancel(): void;
}

/** What a run left to be answered. */
interface Questions {
  readonly interrupts: readonly Interrupt[];
  /** Calls without an answer: this client has to answer them. */
  readonly calls: readonly { id: string; name: string; args: string }[];
}

/** A thread as its client keeps it. */
export interface Conversation {
  readonly threadId: string;
  readonly state: unknown;
  tools: readonly Tool[];
  begin(turnInput: TurnInput, show: (event: BaseEvent) => void): RunFold;
  questions(): Questions;
  answer(toolCallId: string, content: string): void;
}

/** Keeps messages and state of one thread on this side. */
export function createConversation(threadId: string = ulid()): Conversation {
  let messages: readonly Message[] = [];
  let state: unknown = {};
  let interrupts: readonly Interrupt[] = [];
  let tools: readonly Tool[] = [];

  return {
    threadId,
    get state() {
      return state;
    },
    get tools() {
      return tools;
    },
    set tools(given) {
      tools = given;
    },
    begin({ text, resume }, show) {
      if (text !== undefined) messages = [...messages, { id: ulid(), role: "user", content: text }];
      const input: RunAgentInput = {
        threadId,
        runId: ulid(),
        protocolVersion: PROTOCOL_VERSION,
        state,
        // A client does not send activities back.
        messages: messages.filter(({ role }) => role !== "activity"),
        tools: [...tools],
        context: [],
        forwardedProps: {},
        ...(resume === undefined ? {} : { resume: [...resume] }),
      };
      interrupts = [];
      const reducer = createReducer(messages);
      const tracker = createStateTracker(state);
      // Servers in other languages: chunks are expanded, what is left open is closed.
      const guard = createGuard({
        threadId,
        runId: input.runId,
        state: tracker,
        ending: { interrupts: [], usage: [] },
        emit(event) {
          reducer.apply(event);
          messages = reducer.messages;
          state = tracker.value;
          if (event.type === EventType.RUN_FINISHED) interrupts = interruptsOf(event);
          show(event);
        },
      });
      return { input, push: (value) => guard.push(value), cancel: () => guard.cancel() };
    },
    questions: () => ({ interrupts, calls: interrupts.length > 0 ? [] : openCalls(messages) }),
    answer(toolCallId, content) {
      messages = [...messages, { id: ulid(), role: "tool", toolCallId, content }];
    },
  };
}

function interruptsOf(event: BaseEvent): readonly Interrupt[] {
  const outcome = event["outcome"] as { type?: string; interrupts?: Interrupt[] } | undefined;
  return outcome?.type === "interrupt" ? (outcome.interrupts ?? []) : [];
}

function openCalls(messages: readonly Message[]): Questions["calls"] {
  const answered = new Set(
    messages.flatMap((message) => (message.role === "tool" ? message.toolCallId : [])),
  );
  return messages
    .flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
    .filter(({ id }) => !answered.has(id))
    .map(({ id, function: { name, arguments: args } }) => ({ id, name, args }));
}
