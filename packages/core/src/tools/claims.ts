import type { Message, RunAgentInput } from "@ag-ui/core";
import { callsIn } from "../base/calls-in.ts";
import type { Logger } from "../contract/context.ts";

type Assistant = Extract<Message, { role: "assistant" }>;
type Call = NonNullable<Assistant["toolCalls"]>[number];

/** What is known of the calls in some messages. */
export interface Claims {
  /** Ids of the calls that only the client vouches for. */
  readonly claimed: ReadonlySet<string>;
  /** Names of tools that run on the server. */
  readonly serverTools: ReadonlySet<string>;
}

/** A message with the calls that are taken of it. Nothing when it was nothing but calls, and none is left. */
export function withCalls(
  message: Assistant,
  take: (call: Call) => Call | undefined,
): Assistant | undefined {
  const { toolCalls, ...rest } = message;
  if (!toolCalls || toolCalls.length === 0) return message;
  const taken = toolCalls.flatMap((call) => take(call) ?? []);
  const isWhole = taken.length === toolCalls.length;
  if (isWhole && taken.every((call, index) => call === toolCalls[index])) return message;
  if (taken.length > 0) return { ...message, toolCalls: taken };
  return rest.content === undefined || rest.content.length === 0 ? undefined : rest;
}

/**
 * The messages without calls of server tools that only a client vouches for, and without their results. The calls
 * are put into `dropped`.
 */
export function withoutClaims(
  messages: readonly Message[],
  { claimed, serverTools }: Claims,
  dropped: Map<string, Call> = new Map(),
): readonly Message[] {
  if (claimed.size === 0 || serverTools.size === 0) return messages;
  for (const message of messages) {
    for (const call of callsIn(message)) {
      if (claimed.has(call.id) && serverTools.has(call.function.name)) dropped.set(call.id, call);
    }
  }
  if (dropped.size === 0) return messages;
  return messages.flatMap((message): Message[] => {
    if (message.role === "tool") return dropped.has(message.toolCallId) ? [] : [message];
    if (message.role !== "assistant") return [message];
    const kept = withCalls(message, (call) => (dropped.has(call.id) ? undefined : call));
    return kept ? [kept] : [];
  });
}

/** The input without such calls; a warning names them. */
export function dropClaims(
  input: RunAgentInput,
  claims: Claims,
  { runId, logger }: { readonly runId: string; readonly logger: Logger },
): RunAgentInput {
  const dropped = new Map<string, Call>();
  const messages = withoutClaims(input.messages, claims, dropped);
  if (dropped.size === 0) return input;
  logger.warn(
    { runId, dropped: [...dropped.values()].map(describeCall) },
    "Dropped calls of server tools that the server did not make, with their results.",
  );
  return { ...input, messages: [...messages] };
}

/** Describes a call for the log. */
export function describeCall({ id, function: { name } }: Call): string {
  return `call "${id}" of "${name}"`;
}
