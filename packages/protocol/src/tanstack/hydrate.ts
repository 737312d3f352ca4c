import { asText, interruptOf, isRecord } from "@holodeck/agui-core/internal";
import type { Call, Json, Message, ProtocolHost, Reply, Session } from "@holodeck/agui-core";
import { inputOf, toBoundInterrupt } from "./bound-interrupt.ts";
import type { KnownCall } from "./bound-interrupt.ts";

/** A thread as TanStack AI loads it: its messages, the run to follow, and the questions to answer. */
export async function hydrate(
  call: Call,
  { host, threadId }: { host: ProtocolHost; threadId: string },
): Promise<Reply> {
  const running = await host.attach(call, { threadId });
  const session = await host.sessions.get({ principal: call.principal?.id ?? "", threadId });
  const body = {
    messages: session ? toUiMessages(pastOf(session)) : [],
    activeRun: running ? { runId: running.record.runId } : null,
    interrupts: session ? interruptsOf(session) : null,
  };
  return { status: 200, headers: { "cache-control": "no-store" }, body };
}

// The client follows the active run from its start: what is stored of it already would be there twice.
function pastOf({ messages, active }: Session): readonly Message[] {
  if (!active || active.offset === 0) return messages;
  let end = messages.length;
  while (end > 0 && !isFromClient(messages[end - 1]!)) end--;
  return messages.slice(0, end);
}

function isFromClient({ role }: Message): boolean {
  return role === "user" || role === "tool";
}

function interruptsOf({ pending, messages }: Session): Json | null {
  const asked = pending.filter(({ kind }) => kind === "interrupt");
  const runId = asked.at(-1)?.runId;
  if (runId === undefined) return null;
  const calls = callsIn(messages);
  return {
    runId,
    pending: asked.map((one) => {
      const interrupt = interruptOf(one);
      const known = calls.get(asText(interrupt.toolCallId) ?? "");
      return toBoundInterrupt({ ...interrupt }, { runId, call: known });
    }),
  };
}

function callsIn(messages: readonly Message[]): Map<string, KnownCall> {
  const calls = new Map<string, KnownCall>();
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const { id, function: called } of message.toolCalls ?? []) {
      calls.set(id, { name: called.name, args: called.arguments });
    }
  }
  return calls;
}

interface UiMessage {
  readonly id: string;
  readonly role: "user" | "assistant" | "system";
  readonly parts: Json[];
}

function toUiMessages(messages: readonly Message[]): UiMessage[] {
  const shown: UiMessage[] = [];
  let thoughts: Json[] = [];
  for (const message of messages) {
    const { id, role } = message;
    switch (role) {
      case "reasoning":
        thoughts.push({ type: "thinking", content: message.content });
        break;
      case "tool":
        addResult(shown, message);
        break;
      case "assistant":
        shown.push({ id, role, parts: [...thoughts, ...partsOf(message)] });
        thoughts = [];
        break;
      case "user":
      case "system":
        shown.push({ id, role, parts: contentParts(message.content) });
        break;
      default:
    }
  }
  return shown;
}

function partsOf({ content, toolCalls }: Extract<Message, { role: "assistant" }>): Json[] {
  const calls = (toolCalls ?? []).map(({ id, function: called }) => ({
    type: "tool-call",
    id,
    name: called.name,
    arguments: called.arguments,
    input: inputOf({ name: called.name, args: called.arguments }),
    state: "input-complete",
  }));
  return [...(content ? [{ type: "text", content }] : []), ...calls];
}

function contentParts(content: unknown): Json[] {
  if (!Array.isArray(content)) return [{ type: "text", content: asText(content) ?? "" }];
  return content
    .filter(isRecord)
    .map((part): Json => (part.type === "text" ? { type: "text", content: part.text } : part));
}

function addResult(shown: readonly UiMessage[], result: Extract<Message, { role: "tool" }>): void {
  const { id, toolCallId, content, error } = result;
  for (let index = shown.length - 1; index >= 0; index--) {
    const { parts } = shown[index]!;
    const call = parts.find((part) => part.type === "tool-call" && part.id === toolCallId);
    if (!call) continue;
    const state = error === undefined ? "complete" : "error";
    call.state = state;
    call.output = typeof content === "string" ? inputOf({ name: "", args: content }) : content;
    parts.push({
      type: "tool-result",
      id,
      toolCallId,
      content,
      state,
      ...(error !== undefined && { error }),
    });
    return;
  }
}
