import { HttpAgent } from "@ag-ui/client";
import { EventType } from "@ag-ui/core";
import type { AgentFunction } from "@holodeck/agui-core";
import { silentLogger } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { HttpAgent as HttpAgent0 } from "ag-ui-client-0";
import { afterAll, describe, expect, test } from "vitest";
import {
  clients as copilots,
  connectClient,
  prepareClients,
} from "../../copilotkit/test/_client.ts";
import { createChat, partsOf, sdks } from "../../vercel/test/_chat.ts";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandlerOptions } from "../src/index.ts";

prepareClients();

const closers: (() => unknown)[] = [];
afterAll(() => Promise.all(closers.map((close) => close())));

/** Answers at once, unless it is asked to wait: then it is in the middle of a call until it is stopped. */
const agent: AgentFunction = async function* ({ messages }, { signal }) {
  const said = JSON.stringify(messages.at(-1)?.content);
  if (said.includes("wait")) {
    yield {
      type: EventType.TOOL_CALL_START,
      toolCallId: `c${messages.length}`,
      toolCallName: "look",
    };
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  } else yield `You said ${said}.`;
};

/** A chat in which the user stops what runs and writes the next message without a pause. */
interface Chat {
  /** Says something, and stops the run in its middle. */
  sayAndStop(): Promise<void>;
  /** Says something; returns the answer as JSON, and throws when the server refuses. */
  say(text: string): Promise<string>;
}

interface Kind {
  readonly name: string;
  open(root: string): Promise<Chat>;
}

const httpAgents = [
  { version: "1.0", Client: HttpAgent },
  // Another release of the same class.
  { version: "0.0.59", Client: HttpAgent0 as unknown as typeof HttpAgent },
].map(({ version, Client }): Kind => ({
  name: `HttpAgent ${version}`,
  async open(root) {
    const client = new Client({ url: `${root}/agui` });
    const add = (content: string): void =>
      client.addMessage({ id: crypto.randomUUID(), role: "user", content });
    return {
      async sayAndStop() {
        add("wait");
        // Rejects, as the client's own request is aborted.
        const stop = { onToolCallStartEvent: () => client.abortRun() };
        await client.runAgent({}, stop).catch(() => undefined);
      },
      async say(text) {
        add(text);
        await client.runAgent();
        return JSON.stringify(client.messages.at(-1)?.content);
      },
    };
  },
}));

const copilotKits = copilots.map(({ version, module, transport }): Kind => ({
  name: `CopilotKit ${version} over ${transport}`,
  async open(root) {
    const client = await connectClient(module, `${root}/agui`, { transport });
    const chat = client.open("t");
    return {
      async sayAndStop() {
        const { unsubscribe } = chat.subscribe({
          onToolCallStartEvent: () => client.core.stopAgent({ agent: chat }),
        });
        await client.say(chat, "wait").catch(() => undefined);
        unsubscribe();
        client.errors.length = 0;
      },
      async say(text) {
        await client.say(chat, text);
        expect(client.errors).toEqual([]);
        return JSON.stringify(chat.messages.at(-1)?.content);
      },
    };
  },
}));

const useChats = sdks.map((sdk): Kind => ({
  name: `useChat of AI SDK ${sdk.name}`,
  async open(root) {
    const client = createChat(sdk, { id: "t", api: `${root}/api/chat` });
    return {
      async sayAndStop() {
        const running = client.chat.sendMessage({ text: "wait" });
        await client.until(({ messages }) =>
          (messages.at(-1)?.parts ?? []).some(
            ({ toolCallId }: { toolCallId?: string }) => toolCallId,
          ),
        );
        await client.chat.stop();
        await running;
      },
      async say(text) {
        await client.chat.sendMessage({ text });
        if (client.chat.error) throw client.chat.error;
        return JSON.stringify(partsOf(client.last, "text")[0].text);
      },
    };
  },
}));

const kinds: readonly Kind[] = [...httpAgents, ...copilotKits, ...useChats];
const policies: readonly (readonly [string, AgentHandlerOptions])[] = [
  ["abort", { onDisconnect: "abort" }],
  ["continue", { onDisconnect: "continue" }],
  ["a time of grace", { onDisconnect: { graceMs: 60_000 } }],
];

describe.for(policies)("with onDisconnect: %s", ([, options]) => {
  test.for(kinds)(
    "a user of $name stops a run and sends the next message at once",
    async (kind) => {
      const handler = createAgentHandler(agent, { logger: silentLogger, ...options });
      const server = await serve(handler, { port: 0, host: "127.0.0.1" });
      closers.push(() => server.close());
      const chat = await kind.open(`http://127.0.0.1:${server.port}`);
      for (const text of ["one", "two", "three"]) {
        await chat.sayAndStop();
        expect(await chat.say(text)).toBe(JSON.stringify(`You said "${text}".`));
      }
    },
  );
});
