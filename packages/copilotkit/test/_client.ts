import type * as Core from "@copilotkit/core";
import type { FrontendTool } from "@copilotkit/core";

// CopilotKit's client does nothing where there is no window: it takes that for rendering on a server.
Reflect.set(globalThis, "window", Reflect.get(globalThis, "window") ?? {});

export type CoreModule = typeof Core;
export type Transport = "rest" | "single";
export type ClientAgent = NonNullable<ReturnType<Core.CopilotKitCore["getAgent"]>>;

/** Every client that is tried: what it is called, and how it is loaded. */
export const clients: readonly [string, () => Promise<CoreModule>][] = [
  ["1.75.0", () => import("@copilotkit/core")],
  // Another release of the same thing; what the tests use has not changed.
  ["1.60.0", async () => (await import("copilotkit-core-1-60")) as unknown as CoreModule],
];

export const transports: readonly Transport[] = ["rest", "single"];

export interface Client {
  readonly core: Core.CopilotKitCore;
  /** What the user would be shown. */
  readonly errors: { code: string; message: string }[];
  /** An agent with its thread, as a chat window has it. */
  open(threadId: string, agentId?: string): ClientAgent;
  /** Says something and waits until everything it led to is over. */
  say(agent: ClientAgent, text: string): Promise<void>;
}

/** A CopilotKit client without a page, connected. */
export async function connectClient(
  load: () => Promise<CoreModule>,
  runtimeUrl: string,
  options: {
    transport?: Transport | "auto";
    tools?: FrontendTool[];
    headers?: Record<string, string>;
  } = {},
): Promise<Client> {
  const { CopilotKitCore } = await load();
  const { transport = "auto", tools = [], headers = {} } = options;
  const errors: Client["errors"] = [];
  const core = new CopilotKitCore({
    runtimeUrl,
    tools,
    headers,
    runtimeTransport: transport,
    deferInitialConnection: true,
  });
  const connected = new Promise<void>((resolve, reject) => {
    core.subscribe({
      onRuntimeConnectionStatusChanged: ({ status }) => {
        if ((status as string) === "connected") resolve();
        if ((status as string) === "error")
          reject(new Error(errors.map(({ message }) => message).join()));
      },
      onError: ({ code, error }) => void errors.push({ code, message: error.message }),
    });
  });
  // Older clients connect by themselves.
  core.connect?.();
  await connected;
  return {
    core,
    errors,
    open(threadId, agentId = "default") {
      const agent = core.getAgent(agentId);
      if (!agent) throw new Error(`The client has no agent "${agentId}".`);
      if (agent.threadId !== threadId) agent.setMessages([]);
      agent.threadId = threadId;
      return agent;
    },
    async say(agent, text) {
      agent.addMessage({ id: crypto.randomUUID(), role: "user", content: text });
      await core.runAgent({ agent });
    },
  };
}

/** Resolves when the messages of an agent are as they are wanted. */
export function untilMessages(
  agent: ClientAgent,
  isWanted: (texts: readonly string[]) => boolean,
): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!isWanted(textsOf(agent))) return;
      unsubscribe();
      resolve();
    };
    const { unsubscribe } = agent.subscribe({ onMessagesChanged: look });
    look();
  });
}

/** Role and text of every message, as a user sees them. */
export function textsOf({ messages }: ClientAgent): string[] {
  return messages.map(({ role, content }) =>
    typeof content === "string" ? `${role}: ${content}` : `${role}: `,
  );
}
