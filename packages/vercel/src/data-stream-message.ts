import { convertText, toLine } from "./convert.ts";

/** Tokens as data stream v1 counts them. */
export interface DataStreamUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** What the lines of one assistant message depend on. */
export interface DataStreamMessageOptions {
  /** The parser of AI SDK 3.4, which knows no `f` and no reasoning. */
  readonly isOldest: boolean;
  /** Ids of calls that the client has from before: those of the message that is continued. */
  readonly known: ReadonlySet<string> | undefined;
}

/**
 * The one assistant message that a response is: which step is open in the client, and which calls
 * wait in it. Every method returns the lines that it takes.
 */
export interface DataStreamMessage {
  /** The blank first part, with which a client begins to show the message. */
  blank(): string;
  /** The first step. */
  start(messageId: string): string;
  text(id: string, delta: string): string;
  reasoning(id: string, delta: string): string;
  /** Nothing when the id is not one of `reasoning`. */
  signature(id: string, value: string): string | undefined;
  /** Makes an id known to `signature` before anything was said under it. */
  startReasoning(id: string): void;
  startCall(id: string, name: string): string;
  callArguments(id: string, delta: string): string;
  endCall(id: string): string;
  result(id: string, content: unknown): string;
  hasCall(id: string): boolean;
  hasResult(id: string): boolean;
  /** Whether the client has calls to answer. */
  readonly isWaiting: boolean;
  /** Closes what is open and the last step. */
  end(finishReason: string, usage: DataStreamUsage): string;
}

interface Call {
  readonly name: string;
  args: string;
  state: "open" | "called" | "answered";
  /** A call that was ended goes on without deltas: readers have closed it. */
  wasEnded: boolean;
  readonly step: Step;
}

/** What the client has put into the step that is open. */
interface Step {
  calls: number;
  /** Calls without a result. */
  waiting: number;
  hasText: boolean;
  textId: string | undefined;
  reasoningId: string | undefined;
}

/** Nothing counted. */
export const noUsage: DataStreamUsage = { promptTokens: 0, completionTokens: 0 };

/** Follows one assistant message as a client of data stream v1 builds it. */
export function createDataStreamMessage(options: DataStreamMessageOptions): DataStreamMessage {
  const { isOldest, known } = options;
  const calls = new Map<string, Call>();
  const reasoningIds = new Set<string>();
  let messageId = "";
  let step = newStep();

  // What a model says next must not merge with what the client has in this step. But a step with a
  // call that waits stays open: clients look for the calls to answer in the last one only.
  function before(isApart: boolean): string {
    if (step.waiting > 0 || (step.calls === 0 && !isApart)) return "";
    return `${finishStep(step.calls > 0 ? "tool-calls" : "stop", noUsage)}${openStep()}`;
  }

  function finishStep(finishReason: string, usage: DataStreamUsage): string {
    step = newStep();
    return toLine("e", { finishReason, usage, isContinued: false });
  }

  function openStep(): string {
    return isOldest ? "" : toLine("f", { messageId });
  }

  function addCall(id: string, name: string): Call {
    const call: Call = { name, args: "", state: "open", wasEnded: false, step };
    calls.set(id, call);
    step.calls++;
    step.waiting++;
    return call;
  }

  function endCall(id: string, call: Call): string {
    call.state = "called";
    call.wasEnded = true;
    return toLine("9", { toolCallId: id, toolName: call.name, args: parseArguments(call.args) });
  }

  return {
    blank() {
      if (step.hasText) return "";
      step.hasText = true;
      return convertText("");
    },
    start(id) {
      messageId = id;
      return openStep();
    },
    text(id, delta) {
      if (delta === "") return "";
      const lines = before(step.textId !== undefined && step.textId !== id);
      step.textId = id;
      step.hasText = true;
      return lines + convertText(delta);
    },
    reasoning(id, delta) {
      reasoningIds.add(id);
      if (delta === "" || isOldest) return "";
      const isOther = step.reasoningId !== undefined && step.reasoningId !== id;
      const lines = before(isOther || step.hasText);
      step.reasoningId = id;
      return lines + toLine("g", delta);
    },
    startReasoning(id) {
      reasoningIds.add(id);
    },
    signature(id, value) {
      if (!reasoningIds.has(id)) return undefined;
      if (isOldest) return "";
      if (step.reasoningId === id) return toLine("j", { signature: value });
      return toLine("i", { data: value });
    },
    startCall(id, name) {
      const call = calls.get(id);
      if (call?.state === "called") call.state = "open";
      if (call || known?.has(id)) return "";
      const lines = before(false);
      addCall(id, name);
      return lines + toLine("b", { toolCallId: id, toolName: name });
    },
    callArguments(id, delta) {
      const call = calls.get(id);
      if (call?.state !== "open") return "";
      call.args += delta;
      if (call.wasEnded || delta === "") return "";
      return toLine("c", { toolCallId: id, argsTextDelta: delta });
    },
    endCall(id) {
      const call = calls.get(id);
      return call?.state === "open" ? endCall(id, call) : "";
    },
    result(id, content) {
      const answer = toLine("a", { toolCallId: id, result: content ?? null });
      let lines = "";
      let call = calls.get(id);
      if (!call) {
        // The oldest parser keeps nothing of the message that goes on.
        if (known?.has(id) && !isOldest) return answer;
        // A result without its call ends the client.
        lines = before(false);
        call = addCall(id, "unknown");
      }
      if (call.state === "open") lines += endCall(id, call);
      if (call.state === "called") {
        call.state = "answered";
        call.step.waiting--;
      } else if (isOldest && call.step !== step) {
        // Said again; the oldest parser looks for the call in this step only.
        return lines;
      }
      return lines + answer;
    },
    hasCall: (id) => calls.has(id) || (known?.has(id) ?? false),
    hasResult: (id) => calls.get(id)?.state === "answered",
    get isWaiting() {
      return step.waiting > 0;
    },
    end(finishReason, usage) {
      let lines = "";
      for (const [id, call] of calls) if (call.state === "open") lines += endCall(id, call);
      // A last step whose calls are all answered makes the client send the whole chat again.
      if (step.calls > 0 && step.waiting === 0) {
        lines += finishStep("tool-calls", noUsage) + (isOldest ? convertText("") : openStep());
      }
      return lines + finishStep(finishReason, usage);
    },
  };
}

function newStep(): Step {
  return { calls: 0, waiting: 0, hasText: false, textId: undefined, reasoningId: undefined };
}

/** Arguments as the object that clients want, whatever the model wrote. */
function parseArguments(text: string): object {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : { value };
  } catch {
    return { raw: text };
  }
}
