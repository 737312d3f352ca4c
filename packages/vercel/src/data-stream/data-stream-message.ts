import { isRecord } from "@holodeck/agui-core/internal";
import { convertText, toLine } from "./convert.ts";
import { parseStructure } from "../shared/json.ts";

/** Tokens as data stream v1 counts them. */
export interface DataStreamUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** What the lines of one assistant message depend on. */
export interface DataStreamMessageOptions {
  /** The parser of AI SDK 3.4, which supports neither `f` nor reasoning. */
  readonly isOldest: boolean;
  /** How deep the body of the client's next request may be. */
  readonly jsonDepth?: number | undefined;
  /** Ids of calls that the client has from before: those of the message that is continued. */
  readonly known: ReadonlySet<string> | undefined;
}

interface Call {
  readonly name: string;
  args: string;
  state: "open" | "called" | "answered";
  /** A call that was ended continues without deltas: readers have closed it. */
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

/**
 * The one assistant message that a response is, as a client of data stream v1 builds it: which step is
 * open there, and which calls wait in it. Every method returns the lines that it takes.
 */
export class DataStreamMessage {
  readonly #isOldest: boolean;
  readonly #jsonDepth: number | undefined;
  readonly #known: ReadonlySet<string> | undefined;
  // Most runs have neither.
  #calls: Map<string, Call> | undefined;
  #reasoningIds: Set<string> | undefined;
  #messageId = "";
  #step = newStep();

  constructor({ isOldest, known, jsonDepth }: DataStreamMessageOptions) {
    this.#isOldest = isOldest;
    this.#jsonDepth = jsonDepth;
    this.#known = known;
  }

  /** The blank first part, with which a client begins to show the message. */
  blank(): string {
    if (this.#step.hasText) return "";
    this.#step.hasText = true;
    return convertText("");
  }

  /** The first step. */
  start(messageId: string): string {
    this.#messageId = messageId;
    return this.#openStep();
  }

  text(id: string, delta: string): string {
    if (delta === "") return "";
    const { textId } = this.#step;
    const lines = this.#before(textId !== undefined && textId !== id);
    this.#step.textId = id;
    this.#step.hasText = true;
    return lines + convertText(delta);
  }

  /** Whether the step continues with this text. */
  isAt(id: string): boolean {
    const { calls, waiting, textId } = this.#step;
    return textId === id && (calls === 0 || waiting > 0);
  }

  reasoning(id: string, delta: string): string {
    this.startReasoning(id);
    if (delta === "" || this.#isOldest) return "";
    const { reasoningId, hasText } = this.#step;
    const isOther = reasoningId !== undefined && reasoningId !== id;
    const lines = this.#before(isOther || hasText);
    this.#step.reasoningId = id;
    return lines + toLine("g", delta);
  }

  /** Registers an id for `signature` before any text was sent under it. */
  startReasoning(id: string): void {
    (this.#reasoningIds ??= new Set()).add(id);
  }

  /** Nothing when the id is not one of `reasoning`. */
  signature(id: string, value: string): string | undefined {
    if (!this.#reasoningIds?.has(id)) return undefined;
    if (this.#isOldest) return "";
    if (this.#step.reasoningId === id) return toLine("j", { signature: value });
    return toLine("i", { data: value });
  }

  startCall(id: string, name: string): string {
    const call = this.#calls?.get(id);
    if (call?.state === "called") call.state = "open";
    if (call || this.#known?.has(id)) return "";
    const lines = this.#before(false);
    this.#addCall(id, name);
    return lines + toLine("b", { toolCallId: id, toolName: name });
  }

  callArguments(id: string, delta: string): string {
    const call = this.#calls?.get(id);
    if (call?.state !== "open") return "";
    call.args += delta;
    if (call.wasEnded || delta === "") return "";
    return toLine("c", { toolCallId: id, argsTextDelta: delta });
  }

  endCall(id: string): string {
    const call = this.#calls?.get(id);
    return call?.state === "open" ? endOf(id, call, this.#jsonDepth) : "";
  }

  result(id: string, content: unknown): string {
    const answer = toLine("a", { toolCallId: id, result: content ?? null });
    let lines = "";
    let call = this.#calls?.get(id);
    if (!call) {
      // The oldest parser keeps nothing of a message that is continued.
      if (this.#known?.has(id) && !this.#isOldest) return answer;
      // A result without its call ends the client.
      lines = this.#before(false);
      call = this.#addCall(id, "unknown");
    }
    if (call.state === "open") lines += endOf(id, call, this.#jsonDepth);
    if (call.state === "called") {
      call.state = "answered";
      call.step.waiting--;
    } else if (this.#isOldest && call.step !== this.#step) {
      // Sent again; the oldest parser looks for the call in this step only.
      return lines;
    }
    return lines + answer;
  }

  hasCall(id: string): boolean {
    return (this.#calls?.has(id) ?? false) || (this.#known?.has(id) ?? false);
  }

  hasResult(id: string): boolean {
    return this.#calls?.get(id)?.state === "answered";
  }

  /** Whether the client has calls to answer. */
  get isWaiting(): boolean {
    return this.#step.waiting > 0;
  }

  /** Closes what is open and the last step. */
  end(finishReason: string, usage: DataStreamUsage): string {
    let lines = "";
    for (const [id, call] of this.#calls ?? [])
      if (call.state === "open") lines += endOf(id, call, this.#jsonDepth);
    // A last step whose calls are all answered makes the client send the whole chat again.
    if (this.#step.calls > 0 && this.#step.waiting === 0) {
      lines += this.#finishStep("tool-calls", noUsage);
      lines += this.#isOldest ? convertText("") : this.#openStep();
    }
    return lines + this.#finishStep(finishReason, usage);
  }

  // The model's next output must not merge with what the client has in this step. But a step with a
  // waiting call stays open: clients look for the calls to answer in the last one only.
  #before(isApart: boolean): string {
    const { calls, waiting } = this.#step;
    if (waiting > 0 || (calls === 0 && !isApart)) return "";
    return `${this.#finishStep(calls > 0 ? "tool-calls" : "stop", noUsage)}${this.#openStep()}`;
  }

  #finishStep(finishReason: string, usage: DataStreamUsage): string {
    this.#step = newStep();
    return toLine("e", { finishReason, usage, isContinued: false });
  }

  #openStep(): string {
    return this.#isOldest ? "" : toLine("f", { messageId: this.#messageId });
  }

  #addCall(id: string, name: string): Call {
    const step = this.#step;
    const call: Call = { name, args: "", state: "open", wasEnded: false, step };
    (this.#calls ??= new Map()).set(id, call);
    step.calls++;
    step.waiting++;
    return call;
  }
}

function endOf(id: string, call: Call, jsonDepth: number | undefined): string {
  call.state = "called";
  call.wasEnded = true;
  const args = parseArguments(call.args, jsonDepth);
  return toLine("9", { toolCallId: id, toolName: call.name, args });
}

function newStep(): Step {
  return { calls: 0, waiting: 0, hasText: false, textId: undefined, reasoningId: undefined };
}

/** Arguments as the object that clients want, whatever the model wrote. */
function parseArguments(text: string, jsonDepth: number | undefined): object {
  if (text.trim() === "") return {};
  if (parseStructure(text, jsonDepth) === text && /^\s*[[{]/.test(text)) return { raw: text };
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : { value };
  } catch {
    return { raw: text };
  }
}
