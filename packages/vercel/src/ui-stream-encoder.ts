// Longer than our usual file: the one list of what each event becomes; the rules are in ui-*.ts.
import { applyPatch, EventType, PatchError } from "@holodeck/agui-core";
import type { BaseEvent, Encoder, Json, LogEntry, Message } from "@holodeck/agui-core";
import { asText, isRecord, toSafeJson } from "./json.ts";
import { vercelHeaders } from "./headers.ts";
import { customChunk } from "./ui-custom.ts";
import { finishReasonOf, isApproval, totalUsage } from "./ui-ending.ts";
import { createUiParts } from "./ui-parts.ts";
import type { ProseKind } from "./ui-parts.ts";
import { toToolOutput } from "./ui-tool-output.ts";

/** A failed run, as its author or this server described it. */
export interface RunFailure {
  readonly message: string;
  readonly code?: string;
}

/** Whom the stream is for, and what it continues. */
export interface UiStreamEncoderOptions {
  /**
   * The AI SDK that reads it. Tool approvals and `finishReason` need 6.
   * @default 5
   */
  sdkVersion?: 5 | 6 | 7;
  /** Id of the assistant message that this run continues. */
  continues?: string | undefined;
  /** Ids of the messages and tool calls which that message holds already. */
  known?: ReadonlySet<string> | undefined;
  /** Ids of the calls in it that the user has said no to; AI SDK 6 shows them as denied. */
  denied?: ReadonlySet<string> | undefined;
  /** The same in full, for a client that comes back to the run and builds the message anew. */
  preface?: readonly Message[] | undefined;
  /** What the client is told of a failure. By default "An error occurred.", whatever it was. */
  describeFailure?: (failure: RunFailure) => string;
  /** Adds `Connection` and `Content-Encoding`, as servers of old sent them. */
  legacyHeaders?: boolean;
}

/** What a client is told of a failure unless somebody decides otherwise. */
export const maskedFailure = "An error occurred.";

/**
 * The UI message stream of AI SDK 5 to 7. By default it says only what 5.0.0 can read.
 *
 * @example
 * ```ts
 * return run.stream(uiStreamEncoder({ sdkVersion: 6 }), "start");
 * ```
 */
export function uiStreamEncoder(options: UiStreamEncoderOptions = {}): Encoder {
  const { sdkVersion = 5, continues, known, describeFailure = () => maskedFailure } = options;
  const { preface = [] } = options;
  const isContinuation = continues !== undefined;
  const parts = createUiParts({ write, isContinuation, known, denied: options.denied });
  /** Messages of other roles than the assistant's, and what they have said so far. */
  const asides = new Map<string, Json & { content: string }>();
  const activities = new Map<string, Json>();
  const subagents = new Map<string, Json>();
  const told = new Set<string>(known);
  let state: { value: unknown } | undefined;
  let frames = "";
  let runId = "";
  // Nearly every delta follows one of the same message.
  let hot: { id: string; prefix: string } | undefined;

  function write(chunk: Json): void {
    frames += `data: ${toSafeJson(chunk)}\n\n`;
  }

  function writeData(name: string, id: string, data: unknown): void {
    write({ type: `data-${name}`, id, data: data ?? null });
  }

  function startProse(kind: ProseKind, event: BaseEvent, id: string): void {
    const { role = "assistant", name, subagentRunId } = event;
    const origin = { messageId: id, ...defined({ name, subagentRunId }) };
    if (kind === "text" && role !== "assistant") {
      asides.set(id, { role, ...defined({ name }), content: "" });
      return;
    }
    told.add(id);
    parts.start(kind, id, origin);
  }

  function delta(kind: ProseKind, id: string, text: string): void {
    const aside = kind === "text" ? asides.get(id) : undefined;
    if (aside) aside.content += text;
    else parts.delta(kind, id, text);
  }

  function endProse(kind: ProseKind, id: string): void {
    const aside = kind === "text" ? asides.get(id) : undefined;
    if (!aside) return parts.end(kind, id);
    asides.delete(id);
    writeData("agui-message", id, aside);
  }

  function startCall(event: BaseEvent, id: string): void {
    const { parentMessageId, subagentRunId } = event;
    const parent = asText(parentMessageId);
    // A parent of another role keeps its id to itself, as in the thread.
    const messageId = parent && !asides.has(parent) ? parent : id;
    told.add(id);
    const origin = { messageId, ...defined({ subagentRunId }) };
    parts.startCall(id, asText(event.toolCallName) ?? "", origin);
  }

  function patchState(patch: unknown): void {
    const next = state && patched(state.value, patch);
    // Without a snapshot to start from, the change is all there is to tell.
    if (!next) return write({ type: "data-agui-state-delta", data: patch ?? [], transient: true });
    state = next;
    writeData("agui-state", "state", state.value);
  }

  function showActivity(event: BaseEvent, id: string): void {
    if (activities.has(id) && event.replace === false) return;
    const content = isRecord(event.content) ? event.content : {};
    activities.set(id, content);
    writeData(asText(event.activityType) ?? "", id, content);
  }

  function patchActivity(event: BaseEvent, id: string): void {
    const before = activities.get(id);
    const next = before && patched(before, event.patch);
    if (!next || !isRecord(next.value)) return;
    activities.set(id, next.value);
    writeData(asText(event.activityType) ?? "", id, next.value);
  }

  function showSubagent(event: BaseEvent, more: Json): void {
    const id = asText(event.subagentRunId) ?? "";
    const data = { ...subagents.get(id), ...more };
    subagents.set(id, data);
    writeData("agui-subagent", id, data);
  }

  function takeSnapshot(messages: readonly Message[]): void {
    // What stands before the user's last word is history, and that cannot be told again here.
    const last = messages.map(({ role }) => role).lastIndexOf("user");
    tellMessages(messages.slice(last + 1));
  }

  function tellMessages(messages: readonly Message[]): void {
    for (const message of messages) {
      if (!told.has(message.id)) tellContent(message);
      if (message.role === "assistant") tellCalls(message);
    }
  }

  function tellContent(message: Message): void {
    const { id, role } = message;
    if (role === "tool") {
      told.add(id);
      parts.result(message.toolCallId, toToolOutput(message.content));
    } else if (role === "reasoning" || (role === "assistant" && message.content)) {
      const kind = role === "reasoning" ? role : "text";
      startProse(kind, { type: EventType.TEXT_MESSAGE_START }, id);
      parts.delta(kind, id, message.content ?? "");
      parts.end(kind, id);
    }
  }

  function tellCalls({ id, toolCalls = [] }: Extract<Message, { role: "assistant" }>): void {
    for (const call of toolCalls) {
      if (told.has(call.id)) continue;
      told.add(call.id);
      parts.startCall(call.id, call.function.name, { messageId: id });
      parts.callArgs(call.id, call.function.arguments);
      parts.endCall(call.id);
    }
  }

  function start(event: BaseEvent): void {
    runId = asText(event.runId) ?? "";
    const messageMetadata = defined({ threadId: event.threadId, runId: event.runId });
    write({ type: "start", messageId: continues ?? runId, messageMetadata });
    tellMessages(preface);
  }

  function finish(event: BaseEvent): void {
    const { outcome, result } = event;
    const type = isRecord(outcome) ? outcome.type : undefined;
    if (isRecord(outcome) && type === "interrupt") showInterrupts(outcome.interrupts);
    const isWaiting = parts.close();
    const finishReason = finishReasonOf(type, isWaiting);
    const usage = totalUsage(event.usage);
    const messageMetadata = { finishReason, ...defined({ usage, result }) };
    if (type === "cancelled") {
      write({ type: "message-metadata", messageMetadata });
      return write({ type: "abort" });
    }
    const reason = sdkVersion >= 6 ? { finishReason } : {};
    write({ type: "finish", ...reason, messageMetadata });
  }

  function showInterrupts(interrupts: unknown): void {
    if (!Array.isArray(interrupts)) return;
    for (const interrupt of interrupts.filter(isRecord)) {
      const { id, toolCallId } = interrupt;
      const approvalId = asText(id) ?? "";
      if (typeof toolCallId === "string" && parts.hasCall(toolCallId)) {
        // An answer that never came would leave the client with half a call.
        parts.endCall(toolCallId);
        if (sdkVersion >= 6 && isApproval(interrupt)) {
          write({ type: "tool-approval-request", approvalId, toolCallId });
        }
      }
      writeData("agui-interrupt", approvalId, interrupt);
    }
  }

  function fail(event: BaseEvent): void {
    parts.close();
    const usage = totalUsage(event.usage);
    // Also the write that lets the client see the last step: 5.0.0 sends again even after an error.
    write({
      type: "message-metadata",
      messageMetadata: { finishReason: "error", ...defined({ usage }) },
    });
    const { message, code } = event;
    const failure = { message: asText(message) ?? "", ...defined({ code: asText(code) }) };
    write({ type: "error", errorText: describeFailure(failure) });
  }

  function tell(event: BaseEvent, offset: number): void {
    const id = asText(event.messageId) ?? "";
    const callId = asText(event.toolCallId) ?? "";
    switch (event.type) {
      case EventType.RUN_STARTED:
        return start(event);
      case EventType.TEXT_MESSAGE_START:
        return startProse("text", event, id);
      case EventType.TEXT_MESSAGE_CONTENT:
        return delta("text", id, asText(event.delta) ?? "");
      case EventType.TEXT_MESSAGE_END:
        return endProse("text", id);
      case EventType.REASONING_MESSAGE_START:
        return startProse("reasoning", event, id);
      case EventType.REASONING_MESSAGE_CONTENT:
        return delta("reasoning", id, asText(event.delta) ?? "");
      case EventType.REASONING_MESSAGE_END:
        return endProse("reasoning", id);
      case EventType.REASONING_ENCRYPTED_VALUE: {
        const encrypted = { [asText(event.entityId) ?? ""]: event.encryptedValue ?? "" };
        return write({ type: "message-metadata", messageMetadata: { agui: { encrypted } } });
      }
      case EventType.TOOL_CALL_START:
        return startCall(event, callId);
      case EventType.TOOL_CALL_ARGS:
        return parts.callArgs(callId, asText(event.delta) ?? "");
      case EventType.TOOL_CALL_END:
        return parts.endCall(callId);
      case EventType.TOOL_CALL_RESULT:
        told.add(id);
        return parts.result(callId, toToolOutput(event.content));
      case EventType.STATE_SNAPSHOT:
        state = { value: event.snapshot };
        return writeData("agui-state", "state", event.snapshot);
      case EventType.STATE_DELTA:
        return patchState(event.delta);
      case EventType.MESSAGES_SNAPSHOT:
        return takeSnapshot(Array.isArray(event.messages) ? (event.messages as Message[]) : []);
      case EventType.ACTIVITY_SNAPSHOT:
        return showActivity(event, id);
      case EventType.ACTIVITY_DELTA:
        return patchActivity(event, id);
      case EventType.STEP_STARTED:
      case EventType.STEP_FINISHED: {
        const { stepName, subagentRunId } = event;
        const status = event.type === EventType.STEP_STARTED ? "running" : "done";
        const step = { stepName, status, ...defined({ subagentRunId }) };
        return writeData("agui-step", `step:${String(stepName)}`, step);
      }
      case EventType.SUBAGENT_STARTED: {
        const { name, description, parentToolCallId } = event;
        const more = defined({ name, description, parentToolCallId });
        return showSubagent(event, { ...more, status: "running" });
      }
      case EventType.SUBAGENT_FINISHED:
        return showSubagent(event, { ...defined({ result: event.result }), status: "done" });
      case EventType.SUBAGENT_ERROR: {
        const { message, code } = event;
        const failure = { message: asText(message) ?? "", ...defined({ code: asText(code) }) };
        return showSubagent(event, { errorText: describeFailure(failure), status: "failed" });
      }
      case EventType.CUSTOM:
        return write(customChunk(event, `${runId}:${offset}`));
      case EventType.RUN_FINISHED:
        return finish(event);
      case EventType.RUN_ERROR:
        return fail(event);
      default:
    }
  }

  return {
    contentType: "text/event-stream",
    headers: vercelHeaders("x-vercel-ai-ui-message-stream", options.legacyHeaders),
    encode({ event, from }: LogEntry) {
      if (event.type === EventType.TEXT_MESSAGE_CONTENT && typeof event.delta === "string") {
        if (hot && event.messageId === hot.id && event.delta !== "") {
          return `${hot.prefix}${JSON.stringify(event.delta)}}\n\n`;
        }
      }
      frames = "";
      tell(event, from);
      const id =
        event.type === EventType.TEXT_MESSAGE_CONTENT ? asText(event.messageId) : undefined;
      hot =
        id === undefined || asides.has(id) || frames === ""
          ? undefined
          : { id, prefix: `data: {"type":"text-delta","id":${JSON.stringify(id)},"delta":` };
      return frames;
    },
    keepAlive: () => ": keep-alive\n\n",
    close: () => "data: [DONE]\n\n",
  };
}

function patched(value: unknown, patch: unknown): { value: unknown } | undefined {
  try {
    return { value: applyPatch(value, patch as Parameters<typeof applyPatch>[1]) };
  } catch (error) {
    // A client keeps what it has when a patch does not apply.
    if (error instanceof PatchError) return undefined;
    throw error;
  }
}

// Only what is there: clients refuse null where they know of an optional key.
function defined(record: Json): Json {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined && value !== null),
  );
}
