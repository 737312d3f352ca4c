import { callChatApi, shouldResubmitMessages } from "@ai-sdk/ui-utils";
import type { JSONValue, UIMessage } from "@ai-sdk/ui-utils";
import { AssistantMessageAccumulator, DataStreamDecoder } from "assistant-stream";
import type { AssistantMessage } from "assistant-stream";
import { createGuard } from "@holodeck/agui-core";
import { createStateTracker } from "@holodeck/agui-core/internal";
import type { BaseEvent, Encoder, LogEntry } from "@holodeck/agui-core";
import { callChatApi as callOldest } from "ui-utils-0";
import type { Message as OldestMessage } from "ui-utils-0";

type V4Options = Parameters<typeof callChatApi>[0];

/** What a chat holds after one response. */
export interface Received<TMessage> {
  message: TMessage | undefined;
  messages: readonly TMessage[];
  data: readonly JSONValue[];
  finishReason: string | undefined;
  usage: { promptTokens: number; completionTokens: number } | undefined;
  error: Error | undefined;
  /** Whether the client would send the chat again by itself. */
  resubmits: boolean;
}

/** What `useChat` of AI SDK 4 makes of a response. */
export async function receiveV4(
  body: BodyInit,
  options: Partial<V4Options> = {},
): Promise<Received<UIMessage>> {
  const received = nothing<UIMessage>();
  const { lastMessage } = options;
  try {
    await callChatApi({
      api: "http://localhost/api/chat",
      body: { id: "chat", messages: [] },
      streamProtocol: "data",
      credentials: undefined,
      headers: undefined,
      abortController: undefined,
      restoreMessagesOnFailure() {},
      onResponse: undefined,
      onUpdate({ message, data }) {
        received.message = message;
        received.data = data ?? [];
      },
      onFinish(message, { usage, finishReason }) {
        received.message = message as UIMessage;
        Object.assign(received, { usage, finishReason });
      },
      onToolCall: undefined,
      generateId: counter(),
      fetch: () => Promise.resolve(new Response(body)),
      lastMessage: undefined,
      requestType: "generate",
      ...options,
    });
  } catch (error) {
    received.error = error as Error;
  }
  received.messages = received.message ? [received.message] : [];
  received.resubmits = shouldResubmitMessages({
    originalMaxToolInvocationStep: undefined,
    originalMessageCount: lastMessage ? 2 : 1,
    maxSteps: 1_000_000,
    messages: [user, ...received.messages],
  });
  return received;
}

const user: UIMessage = { id: "u", role: "user", content: "hi", parts: [] };

/** What `useChat` of AI SDK 3.4 makes of a response. */
export async function receiveOldest(
  body: BodyInit,
  options: Partial<Parameters<typeof callOldest>[0]> = {},
): Promise<Received<OldestMessage>> {
  const received = nothing<OldestMessage>();
  try {
    await callOldest({
      api: "http://localhost/api/chat",
      body: { messages: [] },
      streamProtocol: "data",
      credentials: undefined,
      headers: undefined,
      abortController: undefined,
      restoreMessagesOnFailure() {},
      onResponse: undefined,
      onUpdate(messages, data) {
        received.messages = messages;
        received.data = data ?? [];
      },
      onFinish(message, { usage, finishReason }) {
        received.message = message;
        Object.assign(received, { usage, finishReason });
      },
      onToolCall: undefined,
      generateId: counter(),
      fetch: () => Promise.resolve(new Response(body)),
      ...options,
    });
  } catch (error) {
    received.error = error as Error;
  }
  // As its `useChat` asks before it sends the chat again.
  const calls = received.messages.at(-1)?.toolInvocations ?? [];
  received.resubmits = calls.length > 0 && calls.every((call) => "result" in call);
  return received;
}

/** What assistant-ui makes of a response. */
export async function receiveAssistantUi(body: BodyInit): Promise<AssistantMessage | undefined> {
  let last: AssistantMessage | undefined;
  const stream = new Response(body)
    .body!.pipeThrough(new DataStreamDecoder())
    .pipeThrough(new AssistantMessageAccumulator());
  for await (const message of stream) last = message;
  return last;
}

/** The log that a run of these events leaves behind: guarded, numbered. */
export function toLog(events: readonly object[]): LogEntry[] {
  const log: LogEntry[] = [];
  const guard = createGuard({
    threadId: "thread",
    runId: "run",
    state: createStateTracker({}),
    ending: { interrupts: [], usage: [] },
    emit(event: BaseEvent) {
      const at = log.length + 1;
      log.push({ from: at, to: at, at: 0, event });
    },
  });
  for (const event of events) guard.push(event);
  guard.complete();
  return log;
}

/** Everything an encoder sends for a log, write by write. */
export function encodeAll(encoder: Encoder, log: readonly LogEntry[]): string[] {
  const chunks = [encoder.open?.() ?? "", ...log.map((entry) => encoder.encode(entry))];
  return [...chunks, encoder.close?.() ?? ""].map(String).filter((chunk) => chunk !== "");
}

/** A body that arrives as it was written. */
export function toBody(chunks: readonly string[]): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(bytes.encode(chunk));
      controller.close();
    },
  });
}

function nothing<T>(): Received<T> {
  return {
    message: undefined,
    messages: [],
    data: [],
    finishReason: undefined,
    usage: undefined,
    error: undefined,
    resubmits: false,
  };
}

function counter(): () => string {
  let count = 0;
  return () => `client-${count++}`;
}
