import type { Interrupt, Message, RunAgentInput } from "@ag-ui/core";
import { PROTOCOL_VERSION, ulid } from "@holodeck/agui-core";
import { isEqualJson } from "@holodeck/agui-core/internal";
import { batch, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import { attachRun, connectThread } from "../../client/agui.ts";
import type { Sent } from "../../client/exchange.ts";
import { stopRun } from "../../client/server.ts";
import { wires } from "../../client/wires.ts";
import { current, exchanges, state, wire } from "../../model.ts";
import type { RecordedExchange, Wire } from "../../model.ts";
import { fetchCause } from "./fetch-cause.ts";
import { createFold } from "./fold.ts";
import type { Folded, Step } from "./fold.ts";
import { createRunFollower } from "./follower.ts";
import { createAnswers } from "./answers.ts";
import type { Answers } from "./answers.ts";
import type { Memory } from "./memory.ts";
import { pageTools } from "./page-tools.ts";
import { planIn } from "./plan.ts";
import type { QuestionContent } from "./title-of.ts";
import { titleOf } from "./title-of.ts";

type ChatStatus = "idle" | "loading" | "running" | "reconnecting" | "stopping";

/** A conversation with an agent, as the page shows it. */
export interface Chat extends Answers {
  readonly threadId: ReadonlySignal<string>;
  readonly agentId: ReadonlySignal<string>;
  readonly messages: ReadonlySignal<readonly Message[]>;
  /** Ids of the messages that are still streaming. */
  readonly open: ReadonlySignal<ReadonlySet<string>>;
  readonly steps: ReadonlySignal<readonly Step[]>;
  readonly suggestions: ReadonlySignal<readonly string[]>;
  readonly interrupts: ReadonlySignal<readonly Interrupt[]>;
  /** The question in whose turn the plan in the state has changed last. */
  readonly planTurn: ReadonlySignal<string | undefined>;
  readonly status: ReadonlySignal<ChatStatus>;
  /** Why the last run failed, in a sentence. */
  readonly failure: ReadonlySignal<string | undefined>;
  /** Its cause and where it is in the agent's code; known only on the machine that serves. */
  readonly cause: ReadonlySignal<string | undefined>;
  /** Asks. With `replaces` the question takes the place of that one and of all that followed. */
  ask(content: QuestionContent, replaces?: string): Promise<void>;
  /** Answers the last question again; also after a failure. */
  regenerate(): Promise<void>;
  stop(): Promise<void>;
  /** A new thread, with this agent from now on. */
  begin(agentId: string): void;
  /** Opens a thread, and follows what is running in it. */
  openThread(threadId: string, agentId: string): Promise<void>;
  dismissFailure(): void;
}

export interface ChatOptions {
  /** The address of the page's folder, with a slash at its end. */
  readonly base: string;
  readonly memory: Memory;
}

// The inspector keeps the frames of this many exchanges.
const maxExchanges = 40;

export function createChat({ base, memory }: ChatOptions): Chat {
  const threadId = signal(ulid());
  const agentId = signal("default");
  const messages = signal<readonly Message[]>([]);
  const open = signal<ReadonlySet<string>>(new Set());
  const steps = signal<readonly Step[]>([]);
  const suggestions = signal<readonly string[]>([]);
  const interrupts = signal<readonly Interrupt[]>([]);
  const planTurn = signal<string | undefined>(undefined);
  const status = signal<ChatStatus>("idle");
  const failure = signal<string | undefined>(undefined);
  const cause = signal<string | undefined>(undefined);
  /** Whether the last run has ended in order, so that what it left open can be answered. */
  const isSettled = signal(false);
  let controller = new AbortController();
  let active: RecordedExchange | undefined;
  /** A question that the server did not take. It has no place in what is sent next. */
  let refused: string | undefined;

  function show(folded: Folded): void {
    batch(() => {
      messages.value = folded.messages;
      open.value = folded.open;
      steps.value = folded.steps;
      suggestions.value = folded.suggestions;
      interrupts.value = folded.interrupts;
      if (state.value === folded.state) return;
      const plan = planIn(state.value.value);
      state.value = folded.state;
      if (!isEqualJson(plan, planIn(folded.state.value))) planTurn.value = lastQuestion()?.id;
    });
  }

  function showExchange(exchange: RecordedExchange): void {
    exchanges.value = [...exchanges.value, exchange].slice(-maxExchanges);
    current.value = exchange;
    active = exchange;
  }

  function reset(): void {
    controller.abort();
    controller = new AbortController();
    batch(() => {
      show(createFold([], { value: undefined, changed: [] }).read());
      status.value = "idle";
      isSettled.value = false;
      failure.value = cause.value = undefined;
      exchanges.value = [];
      current.value = undefined;
    });
  }

  function toInput(history: readonly Message[], more: Partial<RunAgentInput> = {}): RunAgentInput {
    return {
      threadId: threadId.value,
      runId: ulid(),
      protocolVersion: PROTOCOL_VERSION,
      messages: [...history],
      tools: [...pageTools],
      context: [],
      state: state.value.value ?? {},
      forwardedProps: {},
      ...more,
    };
  }

  /** Follows an exchange, and what re-attaches to its run, until the run has ended. */
  async function follow(first: Sent): Promise<RecordedExchange> {
    const { signal } = controller;
    const { input } = first.exchange;
    const options = { base, agentId: agentId.value, signal };
    const follower = createRunFollower({
      fold: createFold(input.messages, state.value),
      signal,
      show,
      showExchange,
      attach: (runId, offset, isBinary) =>
        attachRun({ ...input, state: state.value.value }, { ...options, runId, offset, isBinary }),
      onRun: (runId) => memory.rememberRun({ threadId: input.threadId, runId }),
      onCut: () => {
        status.value = "reconnecting";
      },
      onBack: () => {
        if (["loading", "reconnecting"].includes(status.value)) status.value = "running";
      },
    });
    const last = await follower.follow(first);
    // A user who has moved on is not shown how this ended.
    if (signal.aborted) return last;
    memory.rememberRun(undefined);
    batch(() => {
      status.value = "idle";
      open.value = new Set();
      isSettled.value = last.status.value === "done";
      if (last.status.value === "failed" || last.status.value === "cut") {
        failure.value = last.error.value ?? "The run failed.";
      }
    });
    if (last.status.value === "failed") void showCause(last, signal);
    return last;
  }

  async function showCause({ runId }: RecordedExchange, signal: AbortSignal): Promise<void> {
    const found = runId.value === undefined ? undefined : await fetchCause(runId.value, base);
    if (!signal.aborted && failure.value !== undefined) cause.value = found;
  }

  async function run(
    history: readonly Message[],
    { via = wire.value, resume }: { via?: Wire; resume?: RunAgentInput["resume"] } = {},
  ): Promise<void> {
    controller = new AbortController();
    clear();
    batch(() => {
      messages.value = history;
      steps.value = [];
      suggestions.value = [];
      interrupts.value = [];
      failure.value = cause.value = undefined;
      isSettled.value = false;
      status.value = "running";
    });
    const input = toInput(history, resume && { resume });
    const { signal } = controller;
    const sent = wires[via](input, { base, agentId: agentId.value, signal });
    await follow(sent);
    refused = sent.refusal() === undefined ? undefined : lastQuestion()?.id;
  }

  function lastQuestion(): Message | undefined {
    return messages.value.findLast(({ role }) => role === "user");
  }

  function noteThread(content: QuestionContent): void {
    const known = memory.threads().find(({ id }) => id === threadId.value);
    const name = known?.name ?? titleOf(content);
    const { value: id } = threadId;
    memory.rememberThread({ id, name, agentId: agentId.value, usedAt: Date.now() });
  }

  const { clear, ...rest } = createAnswers({
    messages,
    interrupts,
    isSettled,
    // REST has no word for an answer.
    send: (history, resume) =>
      run(history, { via: wire.value === "rest" ? "agui-sse" : wire.value, resume }),
  });

  return {
    ...rest,
    threadId,
    agentId,
    messages,
    open,
    steps,
    suggestions,
    interrupts,
    planTurn,
    status,
    failure,
    cause,
    async ask(content, replaces = refused) {
      if (status.value !== "idle") return;
      const at = messages.value.findIndex(({ id }) => id === replaces);
      const before = at < 0 ? messages.value : messages.value.slice(0, at);
      noteThread(content);
      await run([...before, { id: ulid(), role: "user", content }]);
    },
    async regenerate() {
      if (status.value !== "idle") return;
      const last = messages.value.findLastIndex(({ role }) => role === "user");
      if (last >= 0) await run(messages.value.slice(0, last + 1));
    },
    async stop() {
      const exchange = active;
      if (!exchange || !["running", "reconnecting"].includes(status.value)) return;
      status.value = "stopping";
      const { signal } = controller;
      const runId = exchange.runId.value;
      const isStopped = await stopRun(base, {
        wire: exchange.wire,
        runId,
        threadId: threadId.value,
      })
        // Out of reach: this page at least stops listening.
        .catch(() => false);
      if (isStopped || signal.aborted || exchange.status.value === "done") return;
      controller.abort();
      memory.rememberRun(undefined);
      batch(() => {
        status.value = "idle";
        open.value = new Set();
      });
    },
    begin(agent) {
      reset();
      agentId.value = agent;
      threadId.value = ulid();
    },
    async openThread(thread, agent) {
      reset();
      agentId.value = agent;
      threadId.value = thread;
      const openRun = memory.openRun();
      const { signal } = controller;
      const options = { base, agentId: agent, signal };
      status.value = "loading";
      if (openRun?.threadId === thread) {
        const { runId } = openRun;
        const last = await follow(attachRun(toInput([], { runId }), { ...options, runId }));
        if (signal.aborted || messages.value.length > 0) return;
        // Its log is gone, or never was: the thread itself knows the rest.
        if (last.status.value === "failed") reset();
        status.value = "loading";
      }
      const sent = connectThread(toInput([]), { ...options, signal: controller.signal });
      await follow(sent);
      // The thread is unknown to the server: it is a new one.
      if (sent.exchange.status.value === "cut" && sent.exchange.frames.value.length === 0) {
        sent.exchange.status.value = "done";
        failure.value = cause.value = undefined;
      }
    },
    dismissFailure() {
      failure.value = cause.value = undefined;
    },
  };
}
