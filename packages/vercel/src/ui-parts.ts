import type { Json } from "@holodeck/agui-core";
import { isRecord } from "./json.ts";
import type { ToolOutput } from "./ui-tool-output.ts";

/** What the client's message holds, and the chunks that bring it there. */
export interface UiParts {
  /** A text or reasoning part begins, in a new step if the last one has had its answers. */
  start(kind: ProseKind, id: string, origin: Json): void;
  delta(kind: ProseKind, id: string, delta: string): void;
  end(kind: ProseKind, id: string): void;
  startCall(id: string, name: string, origin: Json): void;
  callArgs(id: string, delta: string): void;
  endCall(id: string): void;
  result(id: string, output: ToolOutput): void;
  /** Whether the message has a part of this tool call. */
  hasCall(id: string): boolean;
  /** Closes everything. True: calls are left that the client has to answer. */
  close(): boolean;
}

export type ProseKind = "text" | "reasoning";

export interface UiPartsOptions {
  write(chunk: Json): void;
  /** Whether the message was begun by an earlier run. */
  isContinuation: boolean;
  /** Ids of what an earlier run has put into it; absent: it is not known. */
  known: ReadonlySet<string> | undefined;
  /** Ids of the calls that the user has said no to. */
  denied?: ReadonlySet<string> | undefined;
}

interface Call {
  readonly name: string;
  readonly origin: Json;
  args: string;
  state: "open" | "waiting" | "answered";
}

/**
 * Keeps the client's rules about parts and steps. A client with
 * `lastAssistantMessageIsCompleteWithToolCalls` sends its message again whenever every tool of the last
 * step has an answer; so what follows the answers stands in a step of its own, and a step that waits for
 * the client stays the last.
 */
export function createUiParts(options: UiPartsOptions): UiParts {
  const { write, isContinuation, known, denied } = options;
  const shown = new Map<string, { kind: ProseKind; id: string }>();
  const origins = new Map<string, Json>();
  const calls = new Map<string, Call>();
  let isStepOpen = false;
  let hasStepped = false;
  let callsInStep = 0;
  let unanswered = 0;

  function enterStep(): void {
    if (isStepOpen && callsInStep > 0 && unanswered === 0) closeStep();
    if (isStepOpen) return;
    write({ type: "start-step" });
    isStepOpen = true;
    hasStepped = true;
  }

  function closeStep(): void {
    // Clients forget what is open when a step ends; a delta after that would fail them.
    for (const { kind, id } of shown.values()) write({ type: `${kind}-end`, id });
    shown.clear();
    write({ type: "finish-step" });
    isStepOpen = false;
    callsInStep = 0;
  }

  function show(kind: ProseKind, id: string): void {
    enterStep();
    const origin = origins.get(`${kind}:${id}`) ?? { messageId: id };
    write({ type: `${kind}-start`, id, providerMetadata: { agui: origin } });
    shown.set(`${kind}:${id}`, { kind, id });
  }

  function end(kind: ProseKind, id: string): void {
    if (shown.delete(`${kind}:${id}`)) write({ type: `${kind}-end`, id });
  }

  function register(id: string, call: Call): void {
    calls.set(id, call);
    callsInStep++;
    unanswered++;
  }

  function endCall(id: string): void {
    const call = calls.get(id);
    if (call?.state !== "open") return;
    call.state = "waiting";
    write({
      type: "tool-input-available",
      toolCallId: id,
      toolName: call.name,
      input: toInput(call.args),
      providerMetadata: { agui: call.origin },
    });
    call.args = "";
  }

  function hasCall(id: string): boolean {
    return calls.has(id) || (known === undefined ? isContinuation : known.has(id));
  }

  return {
    start(kind, id, origin) {
      end(kind, id);
      origins.set(`${kind}:${id}`, origin);
      show(kind, id);
    },
    delta(kind, id, delta) {
      if (delta === "") return;
      if (!shown.has(`${kind}:${id}`)) show(kind, id);
      write({ type: `${kind}-delta`, id, delta });
    },
    end(kind, id) {
      origins.delete(`${kind}:${id}`);
      end(kind, id);
    },
    startCall(id, name, origin) {
      // A second part with the same call would be a second call to the client.
      if (calls.has(id) || known?.has(id)) return;
      enterStep();
      write({ type: "tool-input-start", toolCallId: id, toolName: name });
      register(id, { name, origin, args: "", state: "open" });
    },
    callArgs(id, delta) {
      const call = calls.get(id);
      if (call?.state !== "open" || delta === "") return;
      call.args += delta;
      write({ type: "tool-input-delta", toolCallId: id, inputTextDelta: delta });
    },
    endCall,
    result(id, output) {
      if (!hasCall(id)) {
        enterStep();
        register(id, { name: "unknown", origin: { messageId: id }, args: "", state: "open" });
      }
      endCall(id);
      const call = calls.get(id);
      if (call?.state === "waiting") {
        call.state = "answered";
        unanswered--;
      }
      if ("output" in output) write({ type: "tool-output-available", toolCallId: id, ...output });
      else if (denied?.has(id)) write({ type: "tool-output-denied", toolCallId: id });
      else write({ type: "tool-output-error", toolCallId: id, ...output });
    },
    hasCall,
    close() {
      for (const id of calls.keys()) endCall(id);
      const isLoopAhead = isStepOpen
        ? callsInStep > 0 && unanswered === 0
        : isContinuation && !hasStepped;
      if (isStepOpen) closeStep();
      if (isLoopAhead) {
        write({ type: "start-step" });
        write({ type: "finish-step" });
      }
      return unanswered > 0;
    },
  };
}

// Arguments that are no JSON object are shown as the text they are.
function toInput(args: string): unknown {
  if (args.trim() === "") return {};
  try {
    const parsed: unknown = JSON.parse(args);
    return isRecord(parsed) ? parsed : args;
  } catch {
    return args;
  }
}
