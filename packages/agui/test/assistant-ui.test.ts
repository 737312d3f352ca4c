import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { HttpAgent } from "ag-ui-client-0";
import { toNodeHandler } from "@holodeck/agui-node";
import { afterEach, expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import type { AgentLike, Message } from "../src/index.ts";
import { memoryLogger } from "./_helpers.ts";

// The runtime behind `useAgUiRuntime`, without React around it. The package exports only the hook.
const entry = import.meta.resolve("@assistant-ui/react-ag-ui");
const { AgUiThreadRuntimeCore } = (await import(
  new URL("runtime/AgUiThreadRuntimeCore.js", entry).href
)) as { AgUiThreadRuntimeCore: new (options: object) => Runtime };

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly result?: unknown;
}

interface ThreadMessage {
  readonly id: string;
  readonly role: string;
  readonly content: readonly Part[];
  readonly status?: { readonly type: string; readonly reason?: string };
}

interface Runtime {
  attachRuntime(runtime: object): void;
  append(message: object): Promise<void>;
  addToolResult(options: { messageId: string; toolCallId: string; result: unknown }): void;
  getMessages(): readonly ThreadMessage[];
  isRunning(): boolean;
}

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** A page of assistant-ui with one tool, which its runtime calls as the page's executor does. */
async function openPage(agent: AgentLike) {
  const handler = createAgentHandler(agent, { logger: memoryLogger() });
  const server = createServer(toNodeHandler(handler)).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(async () => {
    await handler.close();
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  let posts = 0;
  const runtime = new AgUiThreadRuntimeCore({
    agent: new HttpAgent({
      url: `http://127.0.0.1:${port}/agui`,
      threadId: "thread",
      fetch: async (url: string, init: RequestInit) => {
        posts++;
        return fetch(url, init);
      },
    }),
    logger: { debug() {}, error() {} },
    showThinking: true,
    notifyUpdate: () => answerCalls(),
  });
  const tools = { locate: { description: "Locates the user.", parameters: { type: "object" } } };
  runtime.attachRuntime({ thread: { getModelContext: () => ({ tools }) } });
  const answered = new Set<string>();
  const answerCalls = (): void => {
    for (const { id, content, status } of runtime.getMessages()) {
      if (status?.type === "running") continue;
      for (const { type, toolCallId, result } of content) {
        if (type !== "tool-call" || result !== undefined || answered.has(toolCallId!)) continue;
        answered.add(toolCallId!);
        runtime.addToolResult({ messageId: id, toolCallId: toolCallId!, result: "Rome" });
      }
    }
  };
  return {
    runtime,
    posts: () => posts,
    say: (text: string) =>
      runtime.append({
        role: "user",
        content: [{ type: "text", text }],
        attachments: [],
        parentId: null,
        sourceId: null,
        runConfig: {},
        createdAt: new Date(),
        metadata: { custom: {} },
      }),
  };
}

const answerOf = (messages: readonly Message[]): string | undefined => {
  const result = messages.findLast(({ role }) => role === "tool");
  return result && JSON.stringify(result.content);
};

const agents: Readonly<Record<string, AgentLike>> = {
  async function({ messages }, { emit }) {
    const place = answerOf(messages);
    if (place === undefined) emit.toolCall("locate", {});
    else await emit.text(`You are in ${place}.`);
  },
  async *generator({ messages }) {
    const place = answerOf(messages);
    if (place === undefined) {
      yield { type: "TOOL_CALL_START", toolCallId: "call", toolCallName: "locate" };
      yield { type: "TOOL_CALL_ARGS", toolCallId: "call", delta: "{}" };
      yield { type: "TOOL_CALL_END", toolCallId: "call" };
    } else yield `You are in ${place}.`;
  },
};

test.for(Object.entries(agents))(
  "assistant-ui sends the result of a tool of the page in a second request (%s)",
  async ([, agent]) => {
    const page = await openPage(agent);
    await page.say("Where am I?");
    await expect.poll(() => page.runtime.isRunning()).toBe(false);
    expect(page.posts()).toBe(2);
    expect(page.runtime.getMessages().at(-1)).toMatchObject({
      status: { type: "complete" },
      content: [{ type: "text", text: 'You are in "Rome".' }],
    });
  },
);
