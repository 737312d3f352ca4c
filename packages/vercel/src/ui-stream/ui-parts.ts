import { isRecord } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";
import { parseStructure, toSafeJson } from "../shared/json.ts";
import type { UiFrames } from "./ui-frames.ts";
import type { ToolOutput } from "./ui-tool-output.ts";

export type ProseKind = "text" | "reasoning";

export interface UiPartsOptions {
  /** Whether the message was begun by an earlier run. */
  readonly isContinuation: boolean;
  /** Ids of what an earlier run has put into it; absent: it is not known. */
  readonly known?: ReadonlySet<string> | undefined;
  /** Ids of the calls that the user has denied. */
  readonly denied?: ReadonlySet<string> | undefined;
  /** How deep the body of the client's next request may be. */
  readonly jsonDepth?: number | undefined;
}

/** A text or reasoning, from its start to its end. */
interface Prose {
  readonly kind: ProseKind;
  readonly id: string;
  /** Its JSON. Absent when there is only the id. */
  readonly origin: string | undefined;
}

interface Call {
  readonly name: string;
  readonly origin: Json;
  args: string;
  state: "open" | "waiting" | "answered";
}

/**
 * The content of the client's message, and the chunks that build it. Follows the client's rules about
 * parts and steps: with `lastAssistantMessageIsCompleteWithToolCalls` it sends its message again whenever
 * every tool of the last step has an answer; so output after the answers is in a separate step, and a
 * step that waits for the client stays the last.
 */
export class UiParts {
  readonly #frames: UiFrames;
  readonly #options: UiPartsOptions;
  /** In the client, and open there. */
  readonly #shown = new Map<string, Prose>();
  // Most runs have neither.
  #hidden: Map<string, Prose> | undefined;
  #calls: Map<string, Call> | undefined;
  #isStepOpen = false;
  #hasStepped = false;
  #callsInStep = 0;
  #unanswered = 0;

  constructor(frames: UiFrames, options: UiPartsOptions) {
    this.#frames = frames;
    this.#options = options;
  }

  /** A text or reasoning part begins, in a new step if the last one has had its answers. */
  start(kind: ProseKind, id: string, origin?: Json): void {
    const key = keyOf(kind, id);
    if (this.#shown.delete(key)) this.#encodeEnd(kind, id);
    this.#show(key, { kind, id, origin: origin && toSafeJson(origin) });
  }

  delta(kind: ProseKind, id: string, delta: string): void {
    if (delta === "") return;
    const key = keyOf(kind, id);
    if (!this.#shown.has(key)) {
      this.#show(key, this.#hidden?.get(key) ?? { kind, id, origin: undefined });
    }
    this.#frames.put(`${deltaHead(kind, id)}${JSON.stringify(delta)}}`);
  }

  end(kind: ProseKind, id: string): void {
    const key = keyOf(kind, id);
    this.#hidden?.delete(key);
    if (this.#shown.delete(key)) this.#encodeEnd(kind, id);
  }

  startCall(id: string, name: string, origin: Json): void {
    // A second part with the same call would be a second call to the client.
    if (this.#calls?.has(id) || this.#options.known?.has(id)) return;
    this.#enterStep();
    this.#frames.write({ type: "tool-input-start", toolCallId: id, toolName: name });
    this.#register(id, { name, origin, args: "", state: "open" });
  }

  callArgs(id: string, delta: string): void {
    const call = this.#calls?.get(id);
    if (call?.state !== "open" || delta === "") return;
    call.args += delta;
    const [toolCallId, text] = [JSON.stringify(id), JSON.stringify(delta)];
    this.#frames.put(
      `{"type":"tool-input-delta","toolCallId":${toolCallId},"inputTextDelta":${text}}`,
    );
  }

  endCall(id: string): void {
    const call = this.#calls?.get(id);
    if (call?.state !== "open") return;
    call.state = "waiting";
    this.#frames.write({
      type: "tool-input-available",
      toolCallId: id,
      toolName: call.name,
      input: toInput(call.args, this.#options.jsonDepth),
      providerMetadata: { agui: call.origin },
    });
    call.args = "";
  }

  result(id: string, output: ToolOutput): void {
    if (!this.hasCall(id)) {
      this.#enterStep();
      this.#register(id, { name: "unknown", origin: { messageId: id }, args: "", state: "open" });
    }
    this.endCall(id);
    const call = this.#calls?.get(id);
    if (call?.state === "waiting") {
      call.state = "answered";
      this.#unanswered--;
    }
    const frames = this.#frames;
    if ("output" in output)
      frames.write({ type: "tool-output-available", toolCallId: id, ...output });
    else if (this.#options.denied?.has(id))
      frames.write({ type: "tool-output-denied", toolCallId: id });
    else frames.write({ type: "tool-output-error", toolCallId: id, ...output });
  }

  /** Whether the message has a part of this tool call. */
  hasCall(id: string): boolean {
    const { known, isContinuation } = this.#options;
    if (this.#calls?.has(id)) return true;
    return known === undefined ? isContinuation : known.has(id);
  }

  /** Closes everything. True: calls are left that the client has to answer. */
  close(): boolean {
    for (const id of this.#calls?.keys() ?? []) this.endCall(id);
    const isLoopAhead = this.#isStepOpen
      ? this.#callsInStep > 0 && this.#unanswered === 0
      : this.#options.isContinuation && !this.#hasStepped;
    if (this.#isStepOpen) this.#closeStep();
    if (isLoopAhead) {
      this.#frames.put(startStep);
      this.#frames.put(finishStep);
    }
    return this.#unanswered > 0;
  }

  #enterStep(): void {
    if (this.#isStepOpen && this.#callsInStep > 0 && this.#unanswered === 0) this.#closeStep();
    if (this.#isStepOpen) return;
    this.#frames.put(startStep);
    this.#isStepOpen = true;
    this.#hasStepped = true;
  }

  #closeStep(): void {
    // Clients forget what is open when a step ends; a delta after that would fail them.
    for (const [key, prose] of this.#shown) {
      this.#encodeEnd(prose.kind, prose.id);
      // Sent again, it repeats its origin.
      (this.#hidden ??= new Map()).set(key, prose);
    }
    this.#shown.clear();
    this.#frames.put(finishStep);
    this.#isStepOpen = false;
    this.#callsInStep = 0;
  }

  #show(key: string, prose: Prose): void {
    this.#enterStep();
    const id = JSON.stringify(prose.id);
    const { kind, origin = `{"messageId":${id}}` } = prose;
    this.#frames.put(`{"type":"${kind}-start","id":${id},"providerMetadata":{"agui":${origin}}}`);
    this.#shown.set(key, prose);
  }

  #encodeEnd(kind: ProseKind, id: string): void {
    this.#frames.put(`{"type":"${kind}-end","id":${JSON.stringify(id)}}`);
  }

  #register(id: string, call: Call): void {
    (this.#calls ??= new Map()).set(id, call);
    this.#callsInStep++;
    this.#unanswered++;
  }
}

const startStep = '{"type":"start-step"}';
const finishStep = '{"type":"finish-step"}';

/** The JSON of a delta's chunk, up to the delta. */
export function deltaHead(kind: ProseKind, id: string): string {
  return `{"type":"${kind}-delta","id":${JSON.stringify(id)},"delta":`;
}

function keyOf(kind: ProseKind, id: string): string {
  return `${kind}:${id}`;
}

// Arguments that are no JSON object are shown as the text they are.
function toInput(args: string, jsonDepth: number | undefined): unknown {
  if (args.trim() === "") return {};
  const parsed = parseStructure(args, jsonDepth);
  return isRecord(parsed) ? parsed : args;
}
