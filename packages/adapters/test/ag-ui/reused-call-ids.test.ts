import { AbstractAgent, HttpAgent } from "@ag-ui/client";
import type { BaseEvent, RunAgentInput } from "@ag-ui/client";
import { createAgentHandler } from "@holodeck/agui";
import type { AgentFunction, AgentLike } from "@holodeck/agui";
import { silentLogger, ulid } from "@holodeck/agui-core";
import type { Message } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { HttpAgent as OlderHttpAgent } from "ag-ui-client-0";
import { from } from "rxjs";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { clients, connectClient, prepareClients } from "../../../copilotkit/test/_client.ts";
import { createChat, sdks, textOf } from "../../../vercel/test/_chat.ts";
import type { Loose } from "../../../vercel/test/_chat.ts";
import { fromAbstractAgent } from "../../src/ag-ui/index.ts";

prepareClients();

const tool = "setColor";
/** What the user asks for, turn by turn: a call for each color. */
const turns = ["teal", "red blue", "grey"];
const colors = turns.flatMap((turn) => turn.split(" "));

interface Seen {
  /** The last message of each run, where that is a result. */
  readonly results: unknown[];
  runs: number;
}

/** Calls the page's tool once for each color of the turn, always under the same id, and then sends the last result. */
function runOf({ threadId, runId, messages }: RunAgentInput, seen: Seen): BaseEvent[] {
  // A client that never stops shall not keep the test from ending.
  if (++seen.runs > 12) throw new Error("The client asks without end.");
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
  const results = turn.filter(({ role }) => role === "tool");
  const last = messages.at(-1);
  if (last?.role === "tool") seen.results.push(last.content);
  const color = (turn[0]!.content as string).split(" ")[results.length];
  const [toolCallId, messageId, ids] = ["call_0", ulid(), { threadId, runId }];
  const events =
    color === undefined
      ? [
          { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
          { type: "TEXT_MESSAGE_CONTENT", messageId, delta: `done: ${turn[0]!.content as string}` },
          { type: "TEXT_MESSAGE_END", messageId },
        ]
      : [
          { type: "TOOL_CALL_START", toolCallId, toolCallName: tool },
          { type: "TOOL_CALL_ARGS", toolCallId, delta: '{"color":' },
          { type: "TOOL_CALL_ARGS", toolCallId, delta: `"${color}"}` },
          { type: "TOOL_CALL_END", toolCallId },
        ];
  return [
    { type: "RUN_STARTED", ...ids },
    ...events,
    { type: "RUN_FINISHED", ...ids },
  ] as BaseEvent[];
}

class Scripted extends AbstractAgent {
  readonly seen: Seen;

  constructor(seen: Seen) {
    super();
    this.seen = seen;
  }

  run(input: RunAgentInput): ReturnType<AbstractAgent["run"]> {
    // The client has another copy of rxjs.
    return from(runOf(input, this.seen)) as unknown as ReturnType<AbstractAgent["run"]>;
  }
}

async function open(agent: AgentLike): Promise<string> {
  const handler = createAgentHandler(agent, { logger: silentLogger });
  const { url, close } = await serve(handler, { port: 0, signals: false });
  onTestFinished(() => close());
  return url;
}

const generator = (seen: Seen): AgentFunction =>
  async function* (input) {
    yield* runOf(input, seen);
  };

const forms: Readonly<Record<string, (seen: Seen) => Promise<AgentLike> | AgentLike>> = {
  "an async generator": generator,
  "an Observable": (seen) => ((input) => from(runOf(input, seen))) as AgentFunction,
  "an AbstractAgent": (seen) => new Scripted(seen),
  "an AbstractAgent behind fromAbstractAgent": (seen) => fromAbstractAgent(new Scripted(seen)),
  "a gateway with an HttpAgent": async (seen) =>
    new HttpAgent({ url: `${await open(generator(seen))}/agui` }),
};

const definition = { name: tool, description: "Paints the page.", parameters: { type: "object" } };

/** What a page has in the end. */
interface Shown {
  /** The colors that its tool was run with, in order. */
  readonly painted: string[];
  /** The ids of the calls in its messages, in order. */
  readonly calls: string[];
  /** Their results, in order. */
  readonly results: unknown[];
}

function shownIn(messages: readonly Message[], painted: string[]): Shown {
  return {
    painted,
    calls: messages.flatMap((one) =>
      one.role === "assistant" ? (one.toolCalls ?? []).map(({ id }) => id) : [],
    ),
    results: messages.flatMap((one) => (one.role === "tool" ? [one.content] : [])),
  };
}

/** Clients that run the tool in the page. */
const pages: Readonly<Record<string, (root: string) => Promise<Shown>>> = {
  ...Object.fromEntries(
    [
      { version: "1.0", Client: HttpAgent },
      { version: "0.0.59", Client: OlderHttpAgent as unknown as typeof HttpAgent },
    ].map(({ version, Client }) => [
      `HttpAgent ${version}`,
      async (root: string) => {
        const agent = new Client({ url: `${root}/agui` });
        const painted: string[] = [];
        const openCalls = (): NonNullable<Extract<Message, { role: "assistant" }>["toolCalls"]> => {
          const answered = new Set(
            agent.messages.flatMap((one) => (one.role === "tool" ? one.toolCallId : [])),
          );
          return agent.messages.flatMap((one) =>
            one.role === "assistant"
              ? (one.toolCalls ?? []).filter(({ id }) => !answered.has(id))
              : [],
          );
        };
        for (const content of turns) {
          agent.addMessage({ id: ulid(), role: "user", content });
          await agent.runAgent({ tools: [definition] });
          for (let calls = openCalls(); calls.length > 0; calls = openCalls()) {
            for (const call of calls) {
              const { color } = JSON.parse(call.function.arguments) as { color: string };
              painted.push(color);
              const result = `painted ${color}`;
              const toolCallId = call.id;
              agent.addMessage({ id: ulid(), role: "tool", toolCallId, content: result });
            }
            await agent.runAgent({ tools: [definition] });
          }
        }
        return shownIn(agent.messages, painted);
      },
    ]),
  ),
  ...Object.fromEntries(
    clients.map(({ version, module, transport }) => [
      `CopilotKit ${version} over ${transport}`,
      async (root: string) => {
        const parameters = z.object({ color: z.string() });
        const painted: string[] = [];
        const handler = async ({ color }: { color: string }): Promise<string> => {
          painted.push(color);
          return `painted ${color}`;
        };
        const client = await connectClient(module, `${root}/agui`, {
          transport,
          tools: [{ name: tool, description: "Paints the page.", parameters, handler } as Loose],
        });
        const agent = client.open("t");
        for (const turn of turns) await client.say(agent, turn);
        expect(client.errors).toEqual([]);
        return shownIn(agent.messages as Message[], painted);
      },
    ]),
  ),
  ...Object.fromEntries(
    sdks.map((sdk) => [
      `useChat ${sdk.name}`,
      async (root: string) => {
        const painted: string[] = [];
        const client = createChat(sdk, {
          api: `${root}/api/chat`,
          sendAutomaticallyWhen: sdk.module.lastAssistantMessageIsCompleteWithToolCalls,
          onToolCall: ({ toolCall }: Loose) => {
            const { chat } = client;
            const add = (chat.addToolOutput ?? chat.addToolResult).bind(chat);
            const { color } = toolCall.input;
            painted.push(color);
            void add({ tool, toolCallId: toolCall.toolCallId, output: `painted ${color}` });
          },
        });
        for (const text of turns) {
          await client.chat.sendMessage({ text });
          await client.until(
            ({ status }) =>
              status === "error" || (status === "ready" && textOf(client.last) !== ""),
          );
        }
        expect(client.chat.error).toBeUndefined();
        const parts: Loose[] = client.messages
          .flatMap((one: Loose) => one.parts)
          .filter((part: Loose) => "toolCallId" in part);
        const calls = parts.map(({ toolCallId }) => toolCallId as string);
        return { painted, calls, results: parts.map(({ output }) => output as unknown) };
      },
    ]),
  ),
};

describe.for(Object.keys(forms))("%s that gives each of its calls the same id", (form) => {
  test.for(Object.keys(pages))("receives each result once from %s", async (page) => {
    const seen: Seen = { results: [], runs: 0 };
    const root = await open(await forms[form]!(seen));
    const { painted, calls, results } = await pages[page]!(root);
    const wanted = colors.map((color) => `painted ${color}`);
    expect(seen.results).toEqual(wanted);
    expect(seen.runs).toBe(turns.length + colors.length);
    expect(painted).toEqual(colors);
    expect(new Set(calls).size).toBe(colors.length);
    expect(calls).toHaveLength(colors.length);
    expect(results).toEqual(wanted);
  });
});
