import { HttpAgent } from "@ag-ui/client";
import { HttpAgent as HttpAgent0 } from "ag-ui-client-0";

/** An event as a client's subscriber gets it: decoded, verified and applied by the real client. */
export interface SeenEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** One thread of a real client, which keeps messages and state itself. */
export interface Conversation {
  /** Sends a user message, runs the agent and resolves to the run's events. */
  send(content: string): Promise<SeenEvent[]>;
  /** Answers a frontend tool, as the page of an app does, and runs the agent again. */
  answer(toolCallId: string, content: unknown): Promise<SeenEvent[]>;
  /** Answers an interrupt, as the page of an app does, and runs the agent again. */
  resume(interruptId: string, payload: unknown): Promise<SeenEvent[]>;
  /** Changes the state on the client's side, as a form on the page does. */
  setState(state: Record<string, unknown>): void;
  readonly messages: readonly Record<string, unknown>[];
  readonly state: unknown;
  /** Of the last answer. */
  readonly contentType: string | null;
}

export interface ConversationOptions {
  /** Frontend tools, by name. */
  readonly tools?: readonly string[];
  readonly state?: Record<string, unknown>;
  /** Which agent of a map is asked. */
  readonly agentId?: string;
  /** By default the network. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/** A version of `@ag-ui/client` and what it asks for. */
export interface Client {
  readonly name: string;
  /** Whether it speaks AG-UI 1.0; older ones are sent what they can read. */
  readonly speaks1: boolean;
  readonly contentType: string;
  open(url: string, options?: ConversationOptions): Conversation;
}

const sse = "text/event-stream";
const proto = "application/vnd.ag-ui.event+proto";

/** Every client an example is tried with; made for `describe.for` and `test.for`. */
export const clients: readonly Client[] = [
  toClient({ name: "@ag-ui/client 1.0.0 over SSE", speaks1: true, contentType: sse }),
  toClient({ name: "@ag-ui/client 1.0.0 over protobuf", speaks1: true, contentType: proto }),
  toClient({ name: "@ag-ui/client 0.0.59 over SSE", speaks1: false, contentType: sse }),
];

function toClient(about: Omit<Client, "open">): Client {
  return { ...about, open: (url, options = {}) => converse(about, url, options) };
}

function converse(
  { speaks1, contentType: accept }: Omit<Client, "open">,
  url: string,
  options: ConversationOptions,
): Conversation {
  const { fetch: send = fetch, agentId, state = {} } = options;
  const parameters = (options.tools ?? []).map((name) => ({
    name,
    description: `The page's ${name}.`,
    parameters: { type: "object" },
  }));
  let contentType: string | null = null;
  let sent = 0;

  const config = {
    url,
    initialState: state,
    // The stock client always asks for SSE; only its `fetch` can ask for something else.
    fetch: async (address: string, init: RequestInit) => {
      const headers = new Headers(init.headers);
      headers.set("accept", accept);
      const body = withAgent(init.body, agentId);
      const response = await send(address, { ...init, headers, body });
      contentType = response.headers.get("content-type");
      return response;
    },
  };
  // The two versions have separate types; what is used here is the same in both.
  const agent = speaks1 ? new HttpAgent(config) : (new HttpAgent0(config) as unknown as HttpAgent);

  async function run(more: Parameters<HttpAgent["runAgent"]>[0] = {}): Promise<SeenEvent[]> {
    const events: SeenEvent[] = [];
    await agent.runAgent(
      { tools: parameters, ...more },
      { onEvent: ({ event }) => void events.push(event) },
    );
    return events;
  }

  return {
    send(content) {
      sent += 1;
      agent.addMessage({ id: `user-${sent}`, role: "user", content });
      return run();
    },
    answer(toolCallId, content) {
      const text = typeof content === "string" ? content : JSON.stringify(content);
      agent.addMessage({ id: `tool-${toolCallId}`, role: "tool", toolCallId, content: text });
      return run();
    },
    resume: (interruptId, payload) =>
      run({ resume: [{ interruptId, status: "resolved", payload }] }),
    setState: (next) => agent.setState(next),
    get messages() {
      return agent.messages as unknown as Record<string, unknown>[];
    },
    get state(): unknown {
      return agent.state;
    },
    get contentType() {
      return contentType;
    },
  };
}

// `HttpAgent` sends AG-UI's own members only, so the choice of an agent is added on the way.
function withAgent(body: RequestInit["body"], agentId: string | undefined): RequestInit["body"] {
  if (agentId === undefined || typeof body !== "string") return body;
  return JSON.stringify({ ...(JSON.parse(body) as object), agentId });
}
