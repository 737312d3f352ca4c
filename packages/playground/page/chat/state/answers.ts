import type { Interrupt, Message, RunAgentInput, ToolCall } from "@ag-ui/core";
import { ulid } from "@holodeck/agui-core";
import { computed, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import { pendingCalls, withResult } from "./pending.ts";

type Resume = NonNullable<RunAgentInput["resume"]>;

/** What the agent waits for, and how it is answered. */
export interface Answers {
  /** Calls of tools that this client is to run, answered or not, until all is answered. */
  readonly pending: ReadonlySignal<readonly ToolCall[]>;
  /** Ids of calls and interrupts that have their answer, which waits for the others. */
  readonly answered: ReadonlySignal<ReadonlySet<string>>;
  answerCall(toolCallId: string, result: unknown): Promise<void>;
  /** An interrupt's answer; without a payload it is called off. */
  answerInterrupt(interruptId: string, payload?: unknown): Promise<void>;
}

export interface AnswersOptions {
  readonly messages: ReadonlySignal<readonly Message[]>;
  readonly interrupts: ReadonlySignal<readonly Interrupt[]>;
  /** Whether the run that asks has ended in order. */
  readonly isSettled: ReadonlySignal<boolean>;
  send(history: readonly Message[], resume: Resume | undefined): Promise<void>;
}

/** Collects answers, and sends them in one run when the last one is there. */
export function createAnswers(options: AnswersOptions): Answers & { clear(): void } {
  const { messages, interrupts, isSettled, send } = options;
  const results = signal<ReadonlyMap<string, string>>(new Map());
  const resumes = signal<ReadonlyMap<string, Resume[number]>>(new Map());
  const pending = computed(() =>
    isSettled.value ? pendingCalls(messages.value, interrupts.value) : [],
  );
  const answered = computed(() => new Set([...results.value.keys(), ...resumes.value.keys()]));

  async function sendWhenDone(): Promise<void> {
    const isDone =
      pending.value.every(({ id }) => results.value.has(id)) &&
      interrupts.value.every(({ id }) => resumes.value.has(id));
    if (!isDone) return;
    let history = messages.value;
    for (const { id: toolCallId } of pending.value) {
      const content = results.value.get(toolCallId)!;
      history = withResult(history, { id: ulid(), role: "tool", toolCallId, content });
    }
    const resume = interrupts.value.map(({ id }) => resumes.value.get(id)!);
    await send(history, resume.length > 0 ? resume : undefined);
  }

  return {
    clear() {
      results.value = new Map();
      resumes.value = new Map();
    },
    pending,
    answered,
    async answerCall(toolCallId, result) {
      if (!pending.value.some(({ id }) => id === toolCallId)) return;
      const content = typeof result === "string" ? result : JSON.stringify(result ?? null);
      results.value = new Map(results.value).set(toolCallId, content);
      await sendWhenDone();
    },
    async answerInterrupt(interruptId, payload) {
      if (!interrupts.value.some(({ id }) => id === interruptId)) return;
      const answer: Resume[number] =
        payload === undefined
          ? { interruptId, status: "cancelled" }
          : { interruptId, status: "resolved", payload };
      resumes.value = new Map(resumes.value).set(interruptId, answer);
      await sendWhenDone();
    },
  };
}
