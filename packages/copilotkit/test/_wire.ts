import type { AgentHandler, BaseEvent } from "@holodeck/agui";
import { collect, readEvents } from "@holodeck/agui-testing";
import type { Stage } from "./_agent.ts";
import { createHandler } from "./_host.ts";

/** What a request answered: its JSON, or the events of its stream. */
export interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly json: Record<string, unknown>;
  readonly events: readonly BaseEvent[];
  readonly text: string;
}

/** Asks a handler without a socket. A body is sent as JSON. */
export async function ask(
  { fetch }: AgentHandler,
  route: string,
  options: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const [method = "GET", path = "/"] = route.split(" ");
  const { body, headers = {} } = options;
  const response = await fetch(
    new Request(`http://test.local${path}`, {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
  const text = await response.text();
  const type = response.headers.get("content-type");
  const isJson = type?.includes("json") === true;
  return {
    status: response.status,
    type,
    text,
    json: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
    events: isJson ? [] : await collect(readEvents(text)),
  };
}

/** The input of a run that says one thing. */
export function input(threadId: string, text: string, more: object = {}): object {
  const messages = [{ id: `u-${text}`, role: "user", content: text }];
  const rest = { tools: [], context: [], state: {}, forwardedProps: {} };
  return { threadId, runId: `r-${threadId}-${text}`, messages, ...rest, ...more };
}

export const typesOf = ({ events }: Answer): string[] => events.map(({ type }) => type);

/** Begins an answer and waits until the agent stands in the middle of it. */
export async function begin(
  stage: Stage,
  threadId: string,
): Promise<{ handler: AgentHandler; answered: Promise<Answer> }> {
  const handler = createHandler(stage);
  const body = input(threadId, "wait");
  const answered = ask(handler, "POST /agui/agent/default/run", { body });
  await stage.waiting.opened;
  return { handler, answered };
}
