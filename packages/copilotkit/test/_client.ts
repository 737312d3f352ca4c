import * as Core from "@copilotkit/core";
import type { CopilotKitCore, FrontendTool } from "@copilotkit/core";
import * as Core60 from "copilotkit-core-1-60";
import { beforeAll, vi } from "vitest";

// CopilotKit's client does nothing where there is no window: it takes that for rendering on a server.
Reflect.set(globalThis, "window", Reflect.get(globalThis, "window") ?? {});

export type CoreModule = typeof Core;
export type Transport = "rest" | "single";
export type ClientAgent = NonNullable<ReturnType<CopilotKitCore["getAgent"]>>;

/** Every client that is tried, over each of its transports. */
export const clients: readonly { version: string; module: CoreModule; transport: Transport }[] = [
  { version: "1.75.0", module: Core },
  // Another release of the same thing; what the tests use has not changed.
  { version: "1.60.0", module: Core60 as unknown as CoreModule },
].flatMap((client) => [
  { ...client, transport: "rest" },
  { ...client, transport: "single" },
]);

/**
 * For a file that tests with them: the clients write what they are told into the console too, and more of
 * it when a server is closed.
 */
export function prepareClients(): void {
  beforeAll(() => {
    vi.spyOn(console, "warn").mockReturnValue(undefined);
    vi.spyOn(console, "error").mockReturnValue(undefined);
  });
}

export interface Client {
  readonly core: CopilotKitCore;
  /** What the user would be shown. */
  readonly errors: { code: string; message: string }[];
  /** An agent with its thread, as a chat window has it. */
  open(threadId: string, agentId?: string): ClientAgent;
  /** Says something and waits until everything it led to is over. */
  say(agent: ClientAgent, text: string): Promise<void>;
}

/** A CopilotKit client without a page, connected. */
export async function connectClient(
  { CopilotKitCore }: CoreModule,
  runtimeUrl: string,
  options: {
    transport?: Transport | "auto";
    tools?: FrontendTool[];
    headers?: Record<string, string>;
  } = {},
): Promise<Client> {
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
      },
      onError: ({ code, error }) => {
        errors.push({ code, message: error.message });
        // Says nothing once the client is connected.
        reject(error);
      },
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
