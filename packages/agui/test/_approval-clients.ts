import { HttpAgent } from "@ag-ui/client";
import { HttpAgent as HttpAgent0 } from "ag-ui-client-0";
import { clients as copilots, connectClient } from "../../copilotkit/test/_client.ts";
import { createChat, partsOf, sdks } from "../../vercel/test/_chat.ts";

/** A conversation in which a person is asked, in the way of one kind of client. */
interface Conversation {
  readonly threadId: string;
  /** Says something; resolves when the run is over. */
  say(text: string): Promise<void>;
  /** Answers the question of the last run. Rejects when the server refuses. */
  answer(isApproved: boolean): Promise<void>;
  /** The results of tools that the client shows. */
  results(): readonly string[];
}

export interface ClientKind {
  readonly name: string;
  /** `root` is where the handler is mounted. */
  open(root: string): Promise<Conversation>;
}

/** The part of AG-UI's clients that all of their releases have. */
interface AnyAgent {
  readonly threadId: string;
  readonly messages: readonly { role: string; content?: unknown }[];
  runAgent(parameters?: object): Promise<unknown>;
  subscribe(subscriber: { onEvent(parameters: { event: unknown }): void }): unknown;
}

interface Asked {
  readonly outcome?: { readonly interrupts?: readonly { readonly id: string }[] };
}

function byAgent(agent: AnyAgent, say: Conversation["say"]): Conversation {
  let interruptId = "";
  agent.subscribe({
    onEvent({ event }) {
      interruptId = (event as Asked).outcome?.interrupts?.[0]?.id ?? interruptId;
    },
  });
  return {
    threadId: agent.threadId,
    say,
    async answer(approved) {
      await agent.runAgent({
        resume: [{ interruptId, status: "resolved", payload: { approved } }],
      });
    },
    results: () =>
      agent.messages.flatMap(({ role, content }) => (role === "tool" ? [String(content)] : [])),
  };
}

const httpAgents = [
  { version: "1.0.0", Client: HttpAgent },
  // Another copy of the class; what is used of it here is the same.
  { version: "0.0.59", Client: HttpAgent0 as unknown as typeof HttpAgent },
].map(({ version, Client }): ClientKind => ({
  name: `@ag-ui/client ${version}`,
  async open(root) {
    const agent = new Client({ url: `${root}/agui` });
    return byAgent(agent as unknown as AnyAgent, async (content) => {
      agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
      await agent.runAgent();
    });
  },
}));

let threads = 0;

const copilotKits = copilots.map(({ version, module, transport }): ClientKind => ({
  name: `CopilotKit ${version} over ${transport}`,
  async open(root) {
    const client = await connectClient(module, `${root}/agui`, { transport });
    const agent = client.open(`copilot-${++threads}`);
    return byAgent(agent as unknown as AnyAgent, (text) => client.say(agent, text));
  },
}));

// From AI SDK 6 on a client has approvals.
const useChats = sdks
  .filter(({ major }) => major >= 6)
  .map((sdk): ClientKind => ({
    name: `useChat of AI SDK ${sdk.name}`,
    async open(root) {
      const threadId = `chat-${++threads}`;
      const { lastAssistantMessageIsCompleteWithApprovalResponses: isAnswered } = sdk.module;
      const api = `${root}/api/chat?sdkVersion=${sdk.major}`;
      const client = createChat(sdk, { id: threadId, api, sendAutomaticallyWhen: isAnswered });
      return {
        threadId,
        async say(text) {
          await client.chat.sendMessage({ text });
        },
        async answer(approved) {
          const posted = client.posted.length;
          const [part] = partsOf(client.last, "tool-refund");
          await client.chat.addToolApprovalResponse({ id: part.approval.id, approved });
          await client.until(
            ({ status }) =>
              client.posted.length > posted && (status === "ready" || status === "error"),
          );
          if (client.chat.error) throw client.chat.error;
        },
        results: () =>
          client.messages.flatMap((message) =>
            partsOf(message, "tool-refund").flatMap(({ state, output, errorText }) =>
              state === "output-available" || state === "output-error"
                ? [String(output ?? errorText)]
                : state === "output-denied"
                  ? ["approval-denied"]
                  : [],
            ),
          ),
      };
    },
  }));

/** Every client that can answer a question, in all its releases. */
export const clientKinds: readonly ClientKind[] = [...httpAgents, ...copilotKits, ...useChats];
