import type { Json, Message, RunAgentInput } from "@holodeck/agui-core";
import { ulid } from "@holodeck/agui-core";
import { userMessage } from "./_helpers.ts";

type Resume = NonNullable<RunAgentInput["resume"]>;

export interface Extra {
  readonly resume?: Resume;
  readonly tools?: readonly Json[];
}

/** A protocol as a client that was written by hand uses it. */
export interface Dialect {
  readonly name: string;
  /** Whether its requests hold the whole conversation. */
  readonly isWhole: boolean;
  /** Begins a thread with a message of the user's, and returns the thread's id. */
  begin(root: string, text: string): Promise<string>;
  /** Sends this as the conversation, in whatever member of the request may hold it; returns the body. */
  send(
    root: string,
    threadId: string,
    messages: readonly Message[],
    extra?: Extra,
  ): Promise<string>;
}

async function post(url: string, body: unknown): Promise<string> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return response.text();
}

const lastText = (messages: readonly Message[]): string =>
  textOf(messages.findLast(({ role }) => role === "user")) || "go";

/** The text of a message. */
export function textOf(message: Message | undefined): string {
  return typeof message?.content === "string" ? message.content : "";
}

function whole(name: string, send: Dialect["send"]): Dialect {
  return {
    name,
    isWhole: true,
    send,
    async begin(root, text) {
      const threadId = ulid();
      await send(root, threadId, [userMessage(text)]);
      return threadId;
    },
  };
}

function toInput(threadId: string, messages: readonly Message[], extra: Extra): Json {
  const rest = { runId: ulid(), state: {}, tools: [], context: [], forwardedProps: {} };
  return { threadId, protocolVersion: "1.0", ...rest, ...extra, messages };
}

/** What followed one message of the user's: texts, and calls with their results. */
interface Answer {
  readonly id: string;
  readonly text: string;
  readonly calls: readonly { id: string; name: string; args: unknown; result?: unknown }[];
}

function toAnswers(messages: readonly Message[]): (Answer | Extract<Message, { role: "user" }>)[] {
  const results = new Map(
    messages.flatMap((one) => (one.role === "tool" ? [[one.toolCallId, one.content]] : [])),
  );
  const called = new Set(
    messages
      .flatMap((one) => (one.role === "assistant" ? (one.toolCalls ?? []) : []))
      .map(({ id }) => id),
  );
  return messages.flatMap((one): (Answer | Extract<Message, { role: "user" }>)[] => {
    if (one.role === "user") return [one];
    // These clients keep a result in its call.
    if (one.role === "tool" && !called.has(one.toolCallId)) {
      const { id, toolCallId, content } = one;
      return [
        { id, text: "", calls: [{ id: toolCallId, name: "pay", args: {}, result: content }] },
      ];
    }
    if (one.role !== "assistant") return [];
    const calls = (one.toolCalls ?? []).map(({ id, function: { name, arguments: args } }) => ({
      id,
      name,
      args: JSON.parse(args) as unknown,
      result: results.get(id),
    }));
    return [{ id: one.id, text: typeof one.content === "string" ? one.content : "", calls }];
  });
}

function toUi(messages: readonly Message[]): Json[] {
  return toAnswers(messages).map((one) => {
    if ("role" in one) {
      return { id: one.id, role: "user", parts: [{ type: "text", text: one.content }] };
    }
    const parts = one.calls.map(({ id, name, args, result }) => ({
      type: `tool-${name}`,
      toolCallId: id,
      input: args,
      ...(result === undefined
        ? { state: "input-available" }
        : { state: "output-available", output: result }),
    }));
    const text = one.text === "" ? [] : [{ type: "text", text: one.text }];
    return { id: one.id, role: "assistant", parts: [...text, ...parts] };
  });
}

function toV4(messages: readonly Message[]): Json[] {
  return toAnswers(messages).map((one) => {
    if ("role" in one) return { id: one.id, role: "user", content: one.content };
    const toolInvocations = one.calls.map(({ id, name, args, result }) => ({
      toolCallId: id,
      toolName: name,
      args,
      ...(result === undefined ? { state: "call" } : { state: "result", result }),
    }));
    return { id: one.id, role: "assistant", content: one.text, toolInvocations };
  });
}

export const agui: Dialect = whole("AG-UI", (root, threadId, messages, extra = {}) =>
  post(`${root}/agui`, toInput(threadId, messages, extra)),
);

export const rest: Dialect = {
  name: "REST",
  isWhole: false,
  async begin(root, message) {
    const body = JSON.parse(await post(`${root}/agent/default/chat`, { message })) as Json;
    return body.session_id as string;
  },
  send: (root, session_id, messages, extra = {}) =>
    post(`${root}/agent/default/chat`, {
      message: lastText(messages),
      session_id,
      messages,
      history: messages,
      ...extra,
    }),
};

/** Every protocol of a handler. */
export const dialects: readonly Dialect[] = [
  agui,
  whole("CopilotKit", (root, threadId, messages, extra = {}) =>
    post(`${root}/agui/agent/default/run`, toInput(threadId, messages, extra)),
  ),
  whole("useChat 5 to 7", (root, id, messages, extra = {}) =>
    post(`${root}/api/chat`, { ...extra, id, trigger: "submit-message", messages: toUi(messages) }),
  ),
  whole("useChat 4", (root, id, messages, extra = {}) =>
    post(`${root}/api/chat`, { ...extra, id, messages: toV4(messages) }),
  ),
  rest,
  {
    name: "threads",
    isWhole: false,
    async begin(root, message) {
      const body = JSON.parse(await post(`${root}/chat`, { message, stream: false })) as Json;
      return body.thread_id as string;
    },
    async send(root, thread_id, messages, extra = {}) {
      const message = lastText(messages);
      const body = { message, thread_id, stream: false, message_history: messages };
      const answer = await post(`${root}/chat`, { ...body, ...extra });
      // The way in which this dialect takes results.
      for (const one of messages) {
        if (one.role !== "tool") continue;
        const result = { execution_id: one.toolCallId, thread_id, result: one.content };
        await post(`${root}/tool_result`, result);
      }
      return answer;
    },
  },
];
