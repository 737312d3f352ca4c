import { isRecord } from "@holodeck/agui-core/internal";
import type { Json, Message } from "@holodeck/agui-core";

/** What is known of an assistant message besides itself. */
export interface AssistantV4Options {
  /** Its text, when it has no parts. */
  readonly text: string;
  /** Whether it is the last message; a call that waits in an older one was given up. */
  readonly isLast: boolean;
}

/** One round of the model: its reasoning, text and calls, and their results. */
interface Round {
  text: string;
  reasoning: { text: string; signature?: string }[];
  calls: Invocation[];
  /** Whether one of the calls has a result. */
  isAnswered: boolean;
}

interface Invocation {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: unknown;
  readonly isAnswered: boolean;
  readonly result: unknown;
}

/** An assistant message of AI SDK 3.4 or 4 as AG-UI's messages: one a round, its results after it. */
export function decodeAssistantV4(
  messageId: string,
  message: Json,
  options: AssistantV4Options,
): Message[] {
  const secrets = readSecrets(message.annotations);
  return readRounds(message, options).flatMap((round, index) => {
    const id = index === 0 ? messageId : `${messageId}:${index}`;
    const calls = round.calls.filter(({ isAnswered }) => isAnswered || options.isLast);
    return [
      ...round.reasoning.map(({ text, signature }, at): Message => {
        const encrypted = signature === undefined ? {} : { encryptedValue: signature };
        return { id: `${id}:reasoning-${at}`, role: "reasoning", content: text, ...encrypted };
      }),
      ...toAssistant(id, round.text, { calls, secrets }),
      ...calls.flatMap(({ isAnswered, toolCallId, result }): Message[] =>
        isAnswered
          ? [{ id: `${toolCallId}:result`, role: "tool", toolCallId, content: toContent(result) }]
          : [],
      ),
    ];
  });
}

interface Encrypted {
  readonly encryptedValue: string;
  readonly encryptedValueType?: string;
}

function toAssistant(
  id: string,
  text: string,
  { calls, secrets }: { calls: readonly Invocation[]; secrets: ReadonlyMap<string, Encrypted> },
): Message[] {
  if (text === "" && calls.length === 0) return [];
  const toolCalls = calls.map(({ toolCallId, toolName, args }) => {
    return {
      id: toolCallId,
      type: "function" as const,
      function: { name: toolName, arguments: JSON.stringify(args ?? {}) },
      ...secrets.get(toolCallId),
    };
  });
  return [
    {
      id,
      role: "assistant",
      ...(text === "" ? {} : { content: text }),
      ...(calls.length === 0 ? {} : { toolCalls }),
    },
  ];
}

function readRounds(message: Json, options: AssistantV4Options): Round[] {
  const { parts } = message;
  if (!Array.isArray(parts) || parts.length === 0) return readWithoutParts(message, options);
  const rounds: Round[] = [];
  let round = newRound();
  let isMarked = false;
  const next = (): void => {
    rounds.push(round);
    round = newRound();
    isMarked = false;
  };
  for (const part of parts as readonly unknown[]) {
    if (!isRecord(part)) continue;
    if (part.type === "step-start") {
      // The blank part that a stream begins with draws the first text in front of its step's mark.
      if (isMarked || round.calls.length > 0) next();
      isMarked = true;
    } else if (part.type === "text" && typeof part.text === "string" && part.text !== "") {
      // What follows a result is the next output of the model.
      if (round.isAnswered) next();
      round.text += part.text;
    } else if (part.type === "reasoning")
      for (const one of readReasoning(part)) round.reasoning.push(one);
    else if (part.type === "tool-invocation") {
      addCall(round, part.toolInvocation);
    }
  }
  next();
  return rounds.filter(
    ({ text, reasoning, calls }) => text !== "" || reasoning.length > 0 || calls.length > 0,
  );
}

// Before parts there were only steps, and the step of the text is unknown: as in the SDK itself, it
// opens the last message, where calls may still wait, and closes an older one.
function readWithoutParts(message: Json, { text, isLast }: AssistantV4Options): Round[] {
  const { toolInvocations, reasoning } = message;
  const steps = new Map<unknown, Round>();
  for (const value of Array.isArray(toolInvocations) ? (toolInvocations as unknown[]) : []) {
    const step = (isRecord(value) && value.step) || 0;
    const round = steps.get(step) ?? newRound();
    addCall(round, value);
    if (round.calls.length > 0) steps.set(step, round);
  }
  const rounds = [...steps.values()];
  const textRound = { ...newRound(), text };
  if (rounds.length === 0) rounds.push(textRound);
  else if (isLast) rounds[0]!.text = text;
  else rounds.push(textRound);
  if (typeof reasoning === "string" && reasoning !== "") {
    rounds[0]!.reasoning.push({ text: reasoning });
  }
  return rounds;
}

function newRound(): Round {
  return { text: "", reasoning: [], calls: [], isAnswered: false };
}

function addCall(round: Round, value: unknown): void {
  for (const call of readInvocation(value)) {
    round.calls.push(call);
    round.isAnswered ||= call.isAnswered;
  }
}

function readInvocation(value: unknown): Invocation[] {
  if (!isRecord(value)) return [];
  const { state, toolCallId, toolName, args, result } = value;
  if (typeof toolCallId !== "string" || toolCallId === "" || typeof toolName !== "string")
    return [];
  // Interrupted while its arguments were streaming: it cannot be answered.
  if (state === "partial-call") return [];
  return [{ toolCallId, toolName, args, isAnswered: state === "result", result }];
}

function readReasoning({ reasoning, details }: Json): Round["reasoning"] {
  if (!Array.isArray(details) || details.length === 0) {
    return typeof reasoning === "string" && reasoning !== "" ? [{ text: reasoning }] : [];
  }
  return (details as readonly unknown[]).flatMap((detail) => {
    if (!isRecord(detail)) return [];
    const { type, text, signature, data } = detail;
    if (type === "redacted") return typeof data === "string" ? [{ text: "", signature: data }] : [];
    if (typeof text !== "string") return [];
    return [{ text, ...(typeof signature === "string" ? { signature } : {}) }];
  });
}

// Values that belong to a call come back where the encoder put them.
function readSecrets(annotations: unknown): ReadonlyMap<string, Encrypted> {
  const secrets = new Map<string, Encrypted>();
  for (const note of Array.isArray(annotations) ? (annotations as readonly unknown[]) : []) {
    if (!isRecord(note) || note.type !== "agui-encrypted" || !isRecord(note.data)) continue;
    const { subtype, entityId, encryptedValue, encryptedValueType } = note.data;
    if (subtype !== "tool-call" || typeof entityId !== "string") continue;
    if (typeof encryptedValue !== "string") continue;
    const type = typeof encryptedValueType === "string" ? { encryptedValueType } : {};
    secrets.set(entityId, { encryptedValue, ...type });
  }
  return secrets;
}

function toContent(result: unknown): string {
  return typeof result === "string" ? result : JSON.stringify(result ?? null);
}
