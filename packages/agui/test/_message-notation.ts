import type { Message } from "@holodeck/agui-core";

/**
 * Messages in one line, separated by blanks:
 *
 * - `u1` a message of the user, `u1:text` with another text than its id; `a1` of the assistant
 * - `a1@u` the same id, of the user
 * - `a1[c1=look,c2=look/7]` calls without text, the second with `{"n":7}`; `a1+[c1=look]` with text
 * - `a1[c1=look!,c2=look?]` the first with an empty text as arguments, the second with one that is no JSON
 * - `r1>c1:42` the result of the call `c1`
 * - `s1` system, `d1` developer, `x1` activity, `t1` reasoning
 */
export function toMessages(line: string): Message[] {
  return line.split(" ").flatMap((one) => (one === "" ? [] : toMessage(one)));
}

const roles = {
  u: "user",
  a: "assistant",
  s: "system",
  d: "developer",
  t: "reasoning",
} as const;

const odds = { "!": "", "?": "nonsense" } as const;

function toMessage(one: string): Message {
  const result = /^(\w+)>(\w+):(.*)$/.exec(one);
  if (result) {
    return { id: result[1]!, role: "tool", toolCallId: result[2]!, content: result[3]! };
  }
  const [, id = "", as, text, plus, calls] = /^(\w+)(?:@(\w))?(?::(.*?))?(?:(\+)?\[(.*)\])?$/.exec(
    one,
  )!;
  if (id.startsWith("x")) {
    return { id, role: "activity", activityType: "plan", content: { step: id } };
  }
  const role = roles[(as ?? id[0]) as keyof typeof roles];
  const content = text ?? id;
  if (calls === undefined) return { id, role, content };
  const toolCalls = calls.split(",").map((call) => {
    const [, callId = "", name = "", odd, n] = /^(\w+)=(\w+)(?:([!?])|\/(\d+))?$/.exec(call)!;
    const args = odd ? odds[odd as keyof typeof odds] : n === undefined ? "{}" : `{"n":${n}}`;
    return { id: callId, type: "function" as const, function: { name, arguments: args } };
  });
  return { id, role: "assistant", ...(plus ? { content } : {}), toolCalls };
}

/** The same line again. What the server made has no id there: `[c1=pay]` is a message with a call, `>c1:42` a result. */
export function toLine(messages: readonly Message[]): string {
  return messages.map(show).join(" ");
}

function show(message: Message): string {
  const { role } = message;
  const id = /^[a-z]\w{0,3}$/.test(message.id) ? message.id : "";
  if (role === "tool") return `${id}>${message.toolCallId}:${textOf(message)}`;
  if (role === "activity") return id;
  const hasText = message.content !== undefined;
  const text = !hasText || message.content === id ? "" : `:${textOf(message)}`;
  if (role !== "assistant" || !message.toolCalls) return `${id}${text}`;
  const calls = message.toolCalls.map(({ id: callId, function: { name, arguments: args } }) => {
    const n = /^\{"n":(\d+)\}$/.exec(args)?.[1];
    return `${callId}=${name}${args === "" ? "!" : n === undefined ? "" : `/${n}`}`;
  });
  return `${id}${text}${hasText ? "+" : ""}[${calls.join(",")}]`;
}

function textOf({ content }: Message): string {
  return typeof content === "string" ? content : JSON.stringify(content);
}
